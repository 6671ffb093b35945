// Follows the status by server-sent events and shows it. Text is set only as text, never as HTML.
import { showConfiguration } from './configuration.js';
import { credentialCard, showCredential } from './credentials.js';
import { byId, keep, setClass, setText } from './dom.js';
import { limitName, limitRow, showLimit } from './limits.js';
import { ALL, rate, sample } from './rates.js';
import { renew } from './renew.js';
import { showAllRequests, showRequests, wantRequests } from './requests.js';
import { routeRow, showRoute } from './routes.js';
import { wantTroubles } from './troubles.js';
import { duration, perSecond, shared } from './words.js';

/** @typedef {import('../status.ts').Status} Status */

const RECONNECT_MS = 2_000;

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
  byId('share').hidden = status.share === undefined;
  setText(byId('shared'), shared(status.share));
  keep(byId('credentials'), Object.entries(status.credentials), credentialCard, showCredential);
  keep(
    byId('routes'),
    status.routes.map((route) => [route.prefix, route]),
    routeRow,
    showRoute,
  );
  const { limits = [] } = status;
  byId('limited').hidden = limits.length === 0;
  keep(
    byId('limits'),
    limits.map((limit) => [limitName(limit), limit]),
    limitRow,
    showLimit,
  );
  wantRequests(status.requestsAnswered);
  wantTroubles();
  void showConfiguration(status.configuredAt);
}

/** A browser does not reconnect after an answer that is no stream, such as the 503 of a stopping proxy. So this does. */
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
byId('more').addEventListener('click', showAllRequests);
byId('filter').addEventListener('input', showRequests);
byId('filter').addEventListener('submit', (event) => event.preventDefault());
follow();
