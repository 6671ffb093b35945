import { cell, row, setTexts } from './dom.js';
import { rate } from './rates.js';
import { milliseconds, perSecond } from './words.js';

/** @typedef {import('../status.ts').Status} Status */
/** @typedef {Status['routes'][number]} Route */

export function routeRow() {
  const prefix = cell('th', 'rowheader', 'prefix mono');
  prefix.setAttribute('scope', 'row');
  const numbers = ['Requests', 'Per second', 'Median', '95\u00a0%'].map((label) => {
    const number = cell('td', 'cell', 'number');
    number.dataset.label = label;
    return number;
  });
  return row(prefix, cell('td', 'cell', ''), cell('td', 'cell', 'mono'), ...numbers);
}

/** @param {HTMLElement} element @param {string} prefix @param {Route} route */
export function showRoute(element, prefix, { credential, upstream, requests, latencyMs }) {
  const texts = [
    prefix,
    credential,
    credential === 'deny' ? '–' : upstream,
    requests.toLocaleString('en'),
    perSecond(rate(prefix)),
    latencyMs === null ? '–' : milliseconds(latencyMs.p50),
    latencyMs === null ? '–' : milliseconds(latencyMs.p95),
  ];
  setTexts(element, texts);
}
