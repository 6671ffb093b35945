import { byId, cell, make, row, setText } from './dom.js';
import { load } from './load.js';
import { clock, milliseconds } from './words.js';

/** @typedef {import('../recent.ts').RecentRequest} RecentRequest */

/** The list is loaded at most this often, and only if there are new requests. */
const REQUESTS_INTERVAL_MS = 1_000;

/** The number of rows before "Show all": all rows are forty screens of a phone. */
const FIRST_ROWS = 30;
let showsAll = false;

/** @type {RecentRequest[]} */
let requests = [];
let answered = -1;
let asking = false;

/** @param {number} count of requests that have ended */
export function wantRequests(count) {
  if (count === answered || asking || document.hidden) return;
  asking = true;
  setTimeout(() => {
    asking = false;
  }, REQUESTS_INTERVAL_MS);
  void load('requests').then((list) => {
    if (list === undefined) return;
    answered = count;
    requests = /** @type {RecentRequest[]} */ (list);
    showRequests();
  });
}

export function showAllRequests() {
  showsAll = true;
  showRequests();
}

export function showRequests() {
  const body = byId('requests');
  const selection = getSelection();
  // A user who selects text may want to copy it.
  if (selection !== null && !selection.isCollapsed && body.contains(selection.anchorNode)) return;
  const words = /** @type {HTMLInputElement} */ (byId('words')).value.toLowerCase().split(/\s+/);
  const failures = /** @type {HTMLInputElement} */ (byId('failures')).checked;
  const shown = requests.filter((request) => {
    if (failures && request.status > 0 && request.status < 400) return false;
    const text = Object.values(request).join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rows = showsAll ? shown : shown.slice(0, FIRST_ROWS);
  body.replaceChildren(...rows.map(requestRow));
  const more = byId('more');
  more.hidden = rows.length === shown.length;
  setText(more, `Show all ${shown.length}`);
  byId('requests-table').classList.toggle(
    'no-callers',
    requests.every(({ caller }) => caller === ''),
  );
  setText(
    byId('no-requests'),
    requests.length === 0
      ? 'No request yet. The next one to the proxy is shown here.'
      : 'No request among the last 200 matches.',
  );
}

/** @param {RecentRequest} request */
function requestRow({ requestId, failed, time, method, path, credential, caller, status, code, durationMs }) {
  const tone = status >= 500 ? 'bad' : status >= 400 || status === 0 ? 'warn' : '';
  const word = status === 0 ? 'left' : String(status);
  const outcome = failed ? why(requestId, word) : make('span', 'status', word);
  const cells = [
    [clock(time)],
    [method === '' ? '–' : method],
    [make('span', 'mono', path === '' ? '–' : path)],
    code === null ? [outcome] : [outcome, make('span', 'code', code)],
    [milliseconds(durationMs)],
    [credential === '' ? '–' : `→ ${credential}`],
    [caller],
  ].map((children, i) => {
    const element = cell('td', 'cell', i === 4 ? 'number' : i === 3 ? tone : '');
    element.append(...children);
    return element;
  });
  return row(...cells);
}

/**
 * A link to the report on a failed request.
 *
 * @param {string} requestId
 * @param {string} word
 */
function why(requestId, word) {
  const link = /** @type {HTMLAnchorElement} */ (make('a', 'status', word));
  link.href = `requests/${encodeURIComponent(requestId)}`;
  link.setAttribute('aria-label', `${word}, why?`);
  return link;
}
