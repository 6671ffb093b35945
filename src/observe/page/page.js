// Follows the status by server-sent events and shows it. Text is only ever set as text.

/**
 * @typedef {{ at: string, result: string, message: string | null, durationMs: number }} Login
 * @typedef {{ kind: string, state: string, expiresInSeconds: number | null, fingerprint: string | null,
 *   lastLogin: string | null, lastLogins: Login[], nextLoginInSeconds: number | null,
 *   lastFailure: { at: string, reason: string, message: string } | null }} Credential
 * @typedef {{ prefix: string, credential: string, upstream: string, requests: number,
 *   latencyMs: { p50: number, p95: number } | null }} Route
 * @typedef {{ version: string, uptimeSeconds: number, ready: boolean, draining: boolean, requestsInFlight: number,
 *   tunnels: number, requestsWaiting: number, requestsAnswered: number, configuredAt: string,
 *   credentials: Record<string, Credential>, routes: Route[] }} Status
 * @typedef {{ time: string, method: string, path: string, route: string, credential: string, caller: string,
 *   status: number, code: string | null, durationMs: number }} Request
 */

/** Over so long requests a second are counted. */
const RATE_WINDOW_MS = 10_000;
const RECONNECT_MS = 2_000;
const REQUESTS_INTERVAL_MS = 1_000;

/** What each state of a credential means for those who call. */
const TONES = /** @type {Record<string, string>} */ ({
  fresh: 'well',
  ready: 'well',
  renewing: 'well',
  starting: 'warn',
  degraded: 'warn',
  expired: 'bad',
  refused: 'bad',
});

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Touches the page only where something is different: a selection stays, and a screen reader isn't disturbed. */
function setText(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

function setClass(/** @type {Element} */ element, /** @type {string} */ name) {
  if (element.className !== name) element.className = name;
}

/**
 * @param {string} tag
 * @param {string} [name] class
 * @param {(string | Node)[]} children
 */
function make(tag, name = '', ...children) {
  const element = document.createElement(tag);
  if (name !== '') element.className = name;
  element.append(...children);
  return element;
}

/** @param {number | null} seconds */
function duration(seconds) {
  if (seconds === null) return '–';
  const parts = /** @type {[number, string][]} */ ([
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]);
  const first = parts.findIndex(([n]) => n > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n}\u00a0${unit}`)
    .join(' ');
}

/** @param {number} ms */
function milliseconds(ms) {
  if (ms >= 10_000) return duration(Math.round(ms / 1_000));
  return ms >= 1_000
    ? `${(ms / 1_000).toFixed(1)}\u00a0s`
    : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)}\u00a0ms`;
}

/** @param {number} rate */
function perSecond(rate) {
  return rate === 0 ? '0' : rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en');
}

/** @param {string} iso */
function clock(iso) {
  return new Date(iso).toLocaleTimeString('en-GB');
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Requests a second: two counts that are some seconds apart, and nothing that the proxy has to keep.

/** @type {{ at: number, counts: Map<string, number> }[]} */
let samples = [];
const ALL = '';

/** @param {Status} status */
function sample(status) {
  const at = performance.now();
  const counts = new Map(status.routes.map(({ prefix, requests }) => [prefix, requests]));
  counts.set(ALL, status.requestsAnswered);
  const last = samples.at(-1);
  if (last !== undefined && status.requestsAnswered < (last.counts.get(ALL) ?? 0)) samples = []; // It was restarted.
  samples.push({ at, counts });
  while (samples.length > 2 && at - /** @type {{ at: number }} */ (samples[1]).at > RATE_WINDOW_MS)
    samples.shift();
}

/** @param {string} prefix */
function rate(prefix) {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.at - first.at < 500) return 0;
  return ((last.counts.get(prefix) ?? 0) - (first.counts.get(prefix) ?? 0)) / ((last.at - first.at) / 1_000);
}

/**
 * Keeps one element for each name, in their order.
 *
 * @template T
 * @param {Element} parent
 * @param {[string, T][]} items
 * @param {() => HTMLElement} create
 * @param {(element: HTMLElement, name: string, item: T) => void} update
 */
function keep(parent, items, create, update) {
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
function within(element, part) {
  return /** @type {HTMLElement} */ (element.querySelector(`.${part}`));
}

function credentialCard() {
  const facts = make('dl', 'facts');
  for (const [label, part] of [
    ['Last login', 'last'],
    ['Next login', 'next'],
    ['Fingerprint', 'fingerprint'],
  ]) {
    facts.append(make('dt', '', /** @type {string} */ (label)), make('dd', part));
  }
  const life = make('div', 'life');
  life.ariaHidden = 'true'; // The same as the words above it.
  const title = make('h3', '', make('span', 'name'), make('span', 'kind quiet'), make('span', 'state'));
  const logins = make('ol', 'logins');
  logins.ariaLabel = 'Last logins';
  return make('li', '', title, make('p', 'left'), life, facts, make('p', 'failure notice bad'), logins);
}

/** @param {HTMLElement} card @param {string} name @param {Credential} credential */
function showCredential(card, name, credential) {
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

/** @param {HTMLElement} list @param {Login[]} logins @param {string | undefined} said what the card says already */
function showLogins(list, logins, said) {
  list.hidden = logins.length === 0;
  keep(
    list,
    logins.map((login) => [login.at, login]),
    () => make('li'),
    (item, _name, { at, result, message, durationMs }) => {
      if (item.childNodes.length > 0) return; // What was, doesn't change.
      const outcome = make(
        'b',
        result === 'ok' ? 'well' : 'bad',
        result === 'ok' ? 'Logged in' : capital(result),
      );
      item.append(make('span', 'quiet', clock(at)), outcome, make('span', 'quiet', milliseconds(durationMs)));
      if (message !== null && message !== said) item.append(make('p', '', message));
    },
  );
}

/** @param {string} tag @param {string} role @param {string} name */
function cell(tag, role, name) {
  const element = make(tag, name);
  element.role = role;
  return element;
}

/** @param {HTMLElement[]} cells */
function row(...cells) {
  const element = make('tr', '', ...cells);
  element.role = 'row';
  return element;
}

function routeRow() {
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
function showRoute(element, prefix, { credential, upstream, requests, latencyMs }) {
  const texts = [
    prefix,
    credential,
    credential === 'deny' ? '–' : upstream,
    requests.toLocaleString('en'),
    perSecond(rate(prefix)),
    latencyMs === null ? '–' : milliseconds(latencyMs.p50),
    latencyMs === null ? '–' : milliseconds(latencyMs.p95),
  ];
  for (const [i, text] of texts.entries()) setText(/** @type {Element} */ (element.children[i]), text);
}

/** @param {Status} status */
function stateOf(status) {
  if (status.draining) return { text: 'Stopping', tone: 'warn' };
  return status.ready ? { text: 'Ready', tone: 'well' } : { text: 'Not ready', tone: 'bad' };
}

function showState(/** @type {string} */ text, /** @type {string} */ tone) {
  setText(byId('state'), text);
  setClass(byId('state'), `state ${tone}`);
  document.title = `bearerd: ${text.toLowerCase()}`;
}

/** @param {Status} status */
function showStatus(status) {
  sample(status);
  document.body.className = '';
  const { text, tone } = stateOf(status);
  showState(text, tone);
  setText(byId('version'), status.version);
  setText(byId('rate'), perSecond(rate(ALL)));
  setText(byId('in-flight'), status.requestsInFlight.toLocaleString('en'));
  setText(byId('tunnels'), status.tunnels.toLocaleString('en'));
  setText(byId('waiting'), status.requestsWaiting.toLocaleString('en'));
  setText(byId('answered'), status.requestsAnswered.toLocaleString('en'));
  setText(byId('uptime'), duration(status.uptimeSeconds));
  keep(byId('credentials'), Object.entries(status.credentials), credentialCard, showCredential);
  keep(
    byId('routes'),
    status.routes.map((route) => [route.prefix, route]),
    routeRow,
    showRoute,
  );
  if (status.requestsAnswered !== answered) wantRequests(status.requestsAnswered);
  if (status.configuredAt !== configuredAt) void showConfiguration(status.configuredAt);
}

// The last requests are asked for when there are new ones, at most once a second.

/** @type {Request[]} */
let requests = [];
let answered = -1;
let asking = false;

/** @param {number} count */
function wantRequests(count) {
  if (asking || document.hidden) return;
  asking = true;
  setTimeout(() => {
    asking = false;
  }, REQUESTS_INTERVAL_MS);
  void load('requests').then((list) => {
    if (list === undefined) return;
    answered = count;
    requests = /** @type {Request[]} */ (list);
    showRequests();
  });
}

function showRequests() {
  const body = byId('requests');
  const selection = getSelection();
  // Whoever marks a row wants to copy it.
  if (selection !== null && !selection.isCollapsed && body.contains(selection.anchorNode)) return;
  const words = /** @type {HTMLInputElement} */ (byId('words')).value.toLowerCase().split(/\s+/);
  const failures = /** @type {HTMLInputElement} */ (byId('failures')).checked;
  const shown = requests.filter((request) => {
    if (failures && request.status > 0 && request.status < 400) return false;
    const text = Object.values(request).join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  body.replaceChildren(...shown.map(requestRow));
  byId('requests-table').classList.toggle(
    'no-callers',
    requests.every(({ caller }) => caller === ''),
  );
  setText(
    byId('no-requests'),
    requests.length === 0
      ? 'No request yet. The next one to the proxy is shown here.'
      : 'No request among the last 200 fits.',
  );
}

/** @param {Request} request */
function requestRow({ time, method, path, credential, caller, status, code, durationMs }) {
  const tone = status >= 500 ? 'bad' : status >= 400 || status === 0 ? 'warn' : '';
  const outcome = make('span', 'status', status === 0 ? 'left' : String(status));
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

let configuredAt = '';

/** @param {string} since */
async function showConfiguration(since) {
  configuredAt = since;
  const loaded = /** @type {{ files: string[], yaml: string } | undefined} */ (await load('configuration'));
  if (loaded === undefined) return;
  setText(byId('configured'), clock(since));
  setText(byId('configuration'), loaded.yaml);
  const { files } = loaded;
  setText(
    byId('files'),
    files.length === 0 ? 'Read from the environment alone.' : `Files read: ${files.join(', ')}`,
  );
}

/** @param {string} path @returns {Promise<unknown>} undefined where it can't be had: the next event asks again */
async function load(path) {
  try {
    const response = await fetch(path, { cache: 'no-store' });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

async function renew() {
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

/** A browser gives up where the answer was no stream: a stopping proxy says 503. So it is asked again here. */
function follow() {
  const events = new EventSource('events');
  events.addEventListener('status', ({ data }) => showStatus(JSON.parse(data)));
  events.addEventListener('error', () => {
    events.close();
    document.body.className = 'lost';
    showState('Connection lost', 'bad');
    setTimeout(follow, RECONNECT_MS);
  });
}

byId('renew').addEventListener('click', () => void renew());
byId('filter').addEventListener('input', showRequests);
byId('filter').addEventListener('submit', (event) => event.preventDefault());
follow();
