import { PROBLEMS, type ProblemCode } from '../../base/problem.ts';
import { ago, span } from '../../base/span.ts';
import { visible } from '../visible.ts';
import type { Why, WhyAttempt } from './why.ts';

/**
 * The same for a person: a line that says what came of it, and below it each thing by its name.
 *
 * @param nowMs on the wall clock, to say how long ago it was
 */
export function whyText(why: Why, nowMs?: number): string {
  const facts: (readonly [string, string])[] = [
    ['request', `${why.id}, over at ${why.time}${age(why, nowMs)}`],
    ['route', `${why.route ?? 'none'}: ${why.why}`],
    ['credential', credential(why)],
    ['answered by', answer(why)],
    ...why.attempts.map(
      (attempt, i) => [`attempt ${i + 1}`, `${course(attempt)}\n${attempt.outcome}`] as const,
    ),
    ...why.waits.map(({ for: what, ms }) => ['waited', `${span(ms)} for a ${what}`] as const),
    ['what to do', why.remedy ?? 'nothing'],
  ];
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  const lines = facts.flatMap(([name, text]) =>
    text.split('\n').map((line, i) => `${(i === 0 ? name : '').padEnd(width)}${visible(line)}`),
  );
  return `${headline(why)}\n\n${lines.join('\n')}\n`;
}

const UNREADABLE = 'A request that was not valid or not whole';
/** Requests that were not read, for another reason than what is in them. */
const UNREAD: { readonly [C in ProblemCode]?: string } = {
  overloaded: 'A connection for which bearerd has no room',
  draining: 'A request while bearerd was stopping',
  'request-timeout': 'A request that did not arrive in time',
};

function headline({ method, path, status, code, durationMs }: Why): string {
  const what =
    [method, path].filter((part) => part !== '').join(' ') ||
    (code === null ? '' : UNREAD[code]) ||
    UNREADABLE;
  // The start of a request that is refused before it is whole is unknown.
  const after = durationMs === 0 ? '' : ` after ${span(durationMs)}`;
  return `${visible(what)}: ${status === 0 ? 'no answer' : status}${after}`;
}

function credential({ credential: name, token }: Why): string {
  if (name === null) return 'none';
  if (token === null) return name === 'none' || name === 'deny' ? name : `${name}, which was not used`;
  if (token.state === 'ready') return `${name}, a key`;
  return `${name}, ${token.state}${token.ageMs === null ? '' : `, ${span(token.ageMs)} old`}`;
}

function answer({ answeredBy, method, status, code, attempts }: Why): string {
  const problem = code === null ? undefined : PROBLEMS[code];
  if (answeredBy === null) return 'nobody: the client left before there was an answer';
  if (answeredBy === 'upstream') {
    return problem === undefined
      ? `the upstream (${status})`
      : `the upstream (${status}), and its answer was cut off (${code})`;
  }
  if (problem === undefined) return `bearerd (${status})`;
  // If the request went upstream, the attempts say more; if there is no room for it, what to do says why.
  const isFull = method === '' && code === 'overloaded';
  return `bearerd (${status} ${code})${attempts.length > 0 || isFull ? '' : `: ${problem.detail}`}`;
}

function course({ upstream, reused, dnsMs, connectMs, tlsMs, firstByteMs, lastByteMs }: WhyAttempt): string {
  const steps = [
    ['name looked up', dnsMs],
    ['connected', connectMs],
    ['TLS', tlsMs],
    ['first byte', firstByteMs],
    ['last byte', lastByteMs],
  ] as const;
  const taken = steps.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${span(ms)}`]));
  const connection = reused ? 'reused connection' : 'new connection';
  return [`${upstream}, ${connection}`, ...taken].join(', ');
}

function age({ time }: Why, nowMs: number | undefined): string {
  return nowMs === undefined ? '' : ` (${ago(Date.parse(time), nowMs)})`;
}
