import { byId, setClass, setText } from './dom.js';

export async function renew() {
  const button = /** @type {HTMLButtonElement} */ (byId('renew'));
  button.disabled = true;
  setText(byId('renewed'), '');
  try {
    const response = await fetch('renew', { method: 'POST' });
    const { renewed, failed } = /** @type {{ renewed: string[], failed: Record<string, string> }} */ (
      await response.json()
    );
    const reasons = Object.entries(failed).map(
      ([name, reason]) => `${name} could not be renewed: ${reason}.`,
    );
    setClass(byId('renewed'), `notice ${reasons.length === 0 ? 'well' : 'bad'}`);
    const done = renewed.length === 0 ? [] : [`Renewed: ${renewed.join(', ')}.`];
    setText(byId('renewed'), [...done, ...reasons].join(' ') || 'There is no token to renew.');
  } catch {
    setClass(byId('renewed'), 'notice bad');
    setText(byId('renewed'), 'bearerd did not answer.');
  }
  button.disabled = false;
}
