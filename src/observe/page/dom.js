/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Changes the page only if the text is different: a selection stays, and a screen reader is not disturbed. */
export function setText(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** One text for each child. */
export function setTexts(/** @type {Element} */ element, /** @type {string[]} */ texts) {
  for (const [i, text] of texts.entries()) setText(/** @type {Element} */ (element.children[i]), text);
}

export function setClass(/** @type {Element} */ element, /** @type {string} */ name) {
  if (element.className !== name) element.className = name;
}

/**
 * @param {string} tag
 * @param {string} [name] class
 * @param {(string | Node)[]} children
 */
export function make(tag, name = '', ...children) {
  const element = document.createElement(tag);
  if (name !== '') element.className = name;
  element.append(...children);
  return element;
}

/**
 * Keeps one element for each name, in order.
 *
 * @template T
 * @param {Element} parent
 * @param {[string, T][]} items
 * @param {() => HTMLElement} create
 * @param {(element: HTMLElement, name: string, item: T) => void} update
 */
export function keep(parent, items, create, update) {
  const known = new Map(
    [...parent.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.name, child]),
  );
  const wanted = items.map(([name, item]) => {
    const element = /** @type {HTMLElement} */ (known.get(name) ?? create());
    element.dataset.name = name;
    update(element, name, item);
    return element;
  });
  if (
    wanted.length !== parent.children.length ||
    wanted.some((element, i) => parent.children[i] !== element)
  ) {
    parent.replaceChildren(...wanted);
  }
}

/** @param {HTMLElement} element @param {string} part */
export function within(element, part) {
  return /** @type {HTMLElement} */ (element.querySelector(`.${part}`));
}

/** @param {string} tag @param {string} role @param {string} name */
export function cell(tag, role, name) {
  const element = make(tag, name);
  element.role = role;
  return element;
}

/** @param {HTMLElement[]} cells */
export function row(...cells) {
  const element = make('tr', '', ...cells);
  element.role = 'row';
  return element;
}
