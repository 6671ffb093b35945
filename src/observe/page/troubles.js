import { byId, keep, make, setText } from './dom.js';
import { load } from './load.js';

/** @typedef {import('../why/situation.ts').Situation} Situation */

const INTERVAL_MS = 1_000;

let isAsking = false;

/** Shows what is wrong now. A status comes each second: what is skipped here comes with the next one. */
export function wantTroubles() {
  if (isAsking || document.hidden) return;
  isAsking = true;
  setTimeout(() => {
    isAsking = false;
  }, INTERVAL_MS);
  void load('troubles').then((loaded) => {
    if (loaded !== undefined) show(/** @type {Situation} */ (loaded));
  });
}

/** @param {Situation} situation */
function show({ now }) {
  keep(
    byId('wrong'),
    now.map(({ what, remedy }) => [[what, remedy ?? ''].join(' ').trim(), undefined]),
    () => make('li', 'notice bad'),
    (element, text) => setText(element, text),
  );
}
