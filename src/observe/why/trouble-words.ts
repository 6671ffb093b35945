import type { Event, RequestEvent } from '../../base/events.ts';
import { sentence } from '../../base/failures/problem-words.ts';
import { NEW_TOKEN_REMEDY } from '../../base/failures/status-words.ts';
import { span } from '../../base/span.ts';

/** What one event says of what went wrong. */
export interface Note {
  /** What it is about, by which another event says that it is over. */
  readonly subject: string;
  readonly what: string;
  readonly remedy?: string | undefined;
  /** It goes on until another event says that it is over. */
  readonly lasts?: true;
}

/** What an event begins, and which subjects it ends. */
interface Said {
  readonly note?: Note | undefined;
  readonly over?: (subject: string) => boolean;
}

type Told = Exclude<Event, RequestEvent>;
type Table = { readonly [T in Told['type']]?: (event: Extract<Told, { type: T }>) => Said };

const only = (subject: string) => (other: string) => other === subject;
/** Reloads that read everything; any other `by` names a file or a credential. */
const WHOLE = new Set(['SIGHUP', 'POST /reload']);
const wholeReload = (by: string) => (WHOLE.has(by) ? '' : by);

/** For a person: what happened, what bearerd does, and what to do. Nothing here holds a secret or a byte of an answer. */
const TABLE: Table = {
  'login-failed': ({ credential, error, usable }) => ({
    note: {
      subject: `login ${credential}`,
      what: `The login of credential "${credential}" failed: ${sentence(error.message)} ${usable ? 'The token at hand stayed in use.' : 'There was no token: requests waited for one, or got 503.'}`,
    },
  }),
  'login-succeeded': ({ credential, warnings }) => ({
    over: (subject) => subject === `login ${credential}` || subject === `token ${credential}`,
    note:
      warnings.length === 0
        ? undefined
        : {
            subject: `answer ${credential}`,
            what: `The login of credential "${credential}" gave a token, and its answer is odd: ${warnings.join('; ')}.`,
            remedy: 'Tell those who run the token server, unless that is known.',
          },
  }),
  'token-expired': ({ credential }) => ({
    note: {
      subject: `token ${credential}`,
      what: `The token of credential "${credential}" expired before a new one was there: requests waited for a login.`,
    },
  }),
  'token-rejected': ({ credential, nextTryInMs }) => ({
    note: {
      subject: `rejected ${credential}`,
      what: `The upstream answered 401 to the token of credential "${credential}" before it had expired: it was revoked, or the upstream does not accept it. bearerd dropped it, and ${nextTryInMs === 0 ? 'logged in again' : `logs in again after a pause of ${span(nextTryInMs)}`}.`,
    },
  }),
  'new-token-rejected': ({ credential }) => ({
    note: {
      subject: `rejected ${credential}`,
      what: `The upstream answered 401 even to a token of credential "${credential}" that had just come from the login.`,
      remedy: NEW_TOKEN_REMEDY,
    },
  }),
  'upstream-failed': ({ route, detail, remedy }) => ({
    note: { subject: upstreamOf(route), what: `${detail} (Route ${route}.)`, remedy, lasts: true },
  }),
  'doubtful-setting': ({ key, problem }) => ({
    note: { subject: `setting ${key}`, what: `A setting is doubtful: ${sentence(`${key} ${problem}`)}` },
  }),
  reloaded: ({ by, restartNeededFor }) => ({
    over: WHOLE.has(by) ? (subject) => subject.startsWith('reload ') : only(`reload ${by}`),
    note: {
      subject: 'reloaded',
      what: `A new configuration is in force (${by}).`,
      ...(restartNeededFor.length > 0 && {
        remedy: `Restart bearerd for ${restartNeededFor.join(', ')}, which are read at the start alone.`,
      }),
    },
  }),
  'reload-refused': ({ by, reason }) => ({
    note: {
      subject: `reload ${wholeReload(by)}`,
      what: `A new configuration (${by}) was refused, and the one before is still in force: ${oneLine(reason)}.`,
      remedy: WHOLE.has(by)
        ? 'Repair it ("bearerd check" names every fault), then send SIGHUP or POST /reload.'
        : 'Repair that file: bearerd reads it again within 5 s, without a restart.',
      lasts: true,
    },
  }),
  'secret-trouble': ({ path, reason }) => ({
    note: {
      subject: `secret ${path}`,
      what: `The secret file ${path} can't be used: ${sentence(reason)} What it held before stays in use.`,
      remedy:
        'Put the file back, readable by the user of bearerd: bearerd reads it again within 5 s, without a restart.',
      lasts: true,
    },
  }),
  'secret-usable': ({ path }) => ({ over: only(`secret ${path}`) }),
  'socket-replaced': ({ path }) => ({
    note: {
      subject: `socket ${path}`,
      what: `At its start bearerd found the socket ${path} of a process that was killed or crashed, and replaced it.`,
      remedy: `See why that one ended: ${WHAT_STARTED_IT} says how (137 is SIGKILL, mostly for want of memory).`,
    },
  }),
  'stop-announced': ({ signal, delayMs }) => ({
    note: {
      subject: 'stop',
      what: `bearerd was told to stop (${signal}): it says that it is not ready, and takes requests for ${delayMs / 1000} s more.`,
      lasts: true,
    },
  }),
  draining: ({ signal, inFlight }) => ({
    over: only('stop'),
    note: {
      subject: 'drain',
      what: `bearerd is stopping (${signal}): it finishes the requests that were under way (${inFlight}), and takes no new ones.`,
      remedy:
        'It ends by itself when they are over, or at BEARERD_DRAIN_TIMEOUT; a second signal ends it at once. Start it again if the stop was not meant.',
      lasts: true,
    },
  }),
  'share-state': (event) =>
    event.state === 'ready'
      ? { over: only('share') }
      : {
          note: {
            subject: 'share',
            what: `${sentence(event.detail)} Tokens are not shared meanwhile: each instance logs in by itself.`,
            remedy: event.remedy,
            lasts: true,
          },
        },
  'sink-written': ({ sink }) => ({ over: only(`sink ${sink}`) }),
  'sink-failed': ({ sink, code }) => ({
    note: {
      subject: `sink ${sink}`,
      what: `The sink ${sink} can't be written (${code}). It is tried again each second.`,
      remedy: 'Check that its place is there, and that the user of bearerd may write to it.',
      lasts: true,
    },
  }),
  'traces-resumed': ({ collector }) => ({ over: only(`traces ${collector}`) }),
  'traces-lost': ({ collector, why }) => ({
    note: {
      subject: `traces ${collector}`,
      what: `Traces are lost, and requests go on: the collector ${collector} ${sentence(why)}`,
      remedy: 'Check the OTEL_ variables and the collector.',
      lasts: true,
    },
  }),
  'internal-error': ({ where }) => ({
    note: {
      subject: 'internal error',
      what: `Something in bearerd itself went wrong (${where}), and it went on.`,
      remedy: 'Please report it, with the line "internal error" of the log.',
    },
  }),
};

/** What knows how a process ended. */
export const WHAT_STARTED_IT =
  'what started it (systemctl status bearerd, docker ps -a, kubectl describe pod)';

/** The subject of what goes wrong with the upstream of a route. */
export function upstreamOf(route: string): string {
  return `upstream ${route}`;
}

export function troubleIn(event: Told): Said | undefined {
  // Each kind has its own function, which the compiler can't follow from the event to the table.
  return (TABLE[event.type] as ((event: Told) => Said) | undefined)?.(event);
}

/** Several faults stand in several lines. */
function oneLine(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .replace(/\.$/, '');
}
