import { keep, make, setClass, setText, within } from './dom.js';
import { capital, clock, duration, milliseconds } from './words.js';

/** @typedef {import('../status.ts').Status} Status */
/** @typedef {Status['credentials'][string]} Credential */
/** @typedef {Credential['lastLogins'][number]} Login */

/** The class of each state: whether calls succeed. */
const TONES = /** @type {Record<string, string>} */ ({
  fresh: 'well',
  ready: 'well',
  renewing: 'well',
  starting: 'warn',
  degraded: 'warn',
  expired: 'bad',
  refused: 'bad',
});

export function credentialCard() {
  const facts = make('dl', 'facts');
  for (const [label, part] of [
    ['Last login', 'last'],
    ['Next login', 'next'],
    ['Fingerprint', 'fingerprint'],
  ]) {
    facts.append(make('dt', '', /** @type {string} */ (label)), make('dd', part));
  }
  const life = make('div', 'life');
  life.ariaHidden = 'true'; // The text above says the same.
  const title = make('h3', '', make('span', 'name'), make('span', 'kind quiet'), make('span', 'state'));
  const logins = make('ol', 'logins');
  logins.ariaLabel = 'Last logins';
  return make('li', '', title, make('p', 'left'), life, facts, make('p', 'failure notice bad'), logins);
}

/** @param {HTMLElement} card @param {string} name @param {Credential} credential */
export function showCredential(card, name, credential) {
  const { kind, state, expiresInSeconds, lastLogin, nextLoginInSeconds, lastFailure } = credential;
  const tone = TONES[state] ?? '';
  const logsIn = nextLoginInSeconds !== null;
  setClass(card, tone);
  setText(within(card, 'name'), name);
  setText(within(card, 'kind'), kind);
  setText(within(card, 'state'), capital(state));
  const left = expiresInSeconds === null ? 'No token' : `${duration(expiresInSeconds)} left`;
  setText(within(card, 'left'), logsIn ? left : 'Does not expire');
  setText(within(card, 'last'), lastLogin === null ? 'none yet' : clock(lastLogin));
  const due = nextLoginInSeconds === 0 ? 'now' : `in ${duration(nextLoginInSeconds)}`;
  setText(within(card, 'next'), due);
  setText(within(card, 'fingerprint'), credential.fingerprint ?? '–');
  within(card, 'facts').hidden = !logsIn;
  setText(
    within(card, 'failure'),
    lastFailure === null ? '' : `${capital(lastFailure.message)} (${clock(lastFailure.at)})`,
  );
  showLife(within(card, 'life'), credential);
  showLogins(within(card, 'logins'), credential.lastLogins, lastFailure?.message);
}

/** @param {HTMLElement} bar @param {Credential} credential */
function showLife(bar, { lastLogin, expiresInSeconds, nextLoginInSeconds }) {
  bar.hidden = expiresInSeconds === null || lastLogin === null;
  if (expiresInSeconds === null || lastLogin === null) return;
  const age = Math.max(0, (Date.now() - Date.parse(lastLogin)) / 1_000);
  const life = Math.max(1, age + expiresInSeconds);
  bar.style.setProperty('--left', String(expiresInSeconds / life));
  bar.style.setProperty(
    '--renewal',
    String(Math.max(0, expiresInSeconds - (nextLoginInSeconds ?? 0)) / life),
  );
}

/** @param {HTMLElement} list @param {readonly Login[]} logins @param {string | undefined} shown the message that the card already shows */
function showLogins(list, logins, shown) {
  list.hidden = logins.length === 0;
  keep(
    list,
    logins.map((login) => [login.at, login]),
    () => make('li'),
    (item, _name, { at, result, message, durationMs }) => {
      if (item.childNodes.length > 0) return; // Past logins don't change.
      const outcome = make(
        'b',
        result === 'ok' ? 'well' : 'bad',
        result === 'ok' ? 'Logged in' : capital(result),
      );
      item.append(make('span', 'quiet', clock(at)), outcome, make('span', 'quiet', milliseconds(durationMs)));
      if (message !== null && message !== shown) item.append(make('p', '', message));
    },
  );
}
