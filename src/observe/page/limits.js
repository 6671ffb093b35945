import { cell, row, setTexts } from './dom.js';

/** @typedef {import('../../base/limit-status.ts').LimitStatus} Limit */

/** @param {Limit} limit */
export function limitName({ route, caller }) {
  return route === undefined ? `caller ${caller}` : `route ${route}`;
}

export function limitRow() {
  const name = cell('th', 'rowheader', 'mono');
  name.setAttribute('scope', 'row');
  return row(name, cell('td', 'cell', 'number mono'), cell('td', 'cell', 'number'));
}

/** @param {HTMLElement} element @param {string} name @param {Limit} limit */
export function showLimit(element, name, { limit, left }) {
  const texts = [name, limit, left.toLocaleString('en')];
  setTexts(element, texts);
}
