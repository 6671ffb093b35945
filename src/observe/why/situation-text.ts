import { ago } from '../../base/span.ts';
import { visible } from '../visible.ts';
import type { Situation, Told } from './situation.ts';
import type { Why } from './why.ts';
import { whyText } from './why-text.ts';

/** What `bearerd why` says without an ID: the last request that failed, what is wrong now, what went wrong lately. */
export function troublesText(situation: Situation, lastFailed: Why | undefined): string {
  const request =
    lastFailed === undefined
      ? ''
      : `${whyText(lastFailed, Date.parse(situation.time))}${overSince(lastFailed, situation)}\n`;
  return `${request}${situationText(situation, lastFailed?.remedy ?? undefined)}`;
}

/** Whether what the last failed request met has ended, so that the reader need not do anything. */
function overSince({ time: failedAt, remedy: said }: Why, { lately, time }: Situation): string {
  const over = lately.find(
    ({ remedy, overAt }) =>
      remedy !== null && said?.startsWith(remedy) === true && overAt !== null && overAt >= failedAt,
  );
  return over?.overAt ? `\nThis is over since ${moment(over.overAt, time)}.\n` : '';
}

/** @param saidRemedy what the reader was told to do just before, and isn't told again */
export function situationText(situation: Situation, saidRemedy?: string): string {
  const { now, lately, process } = situation;
  const goesOn = now.map((told) => nowLine(told, situation, saidRemedy));
  const paragraphs = situation.ready ? [[headline(situation), ...goesOn].join('\n')] : goesOn;
  const lines = lately.map((told) => latelyLine(told, situation, saidRemedy));
  const past =
    lines.length === 0
      ? `Lately: no ${process.requestsFailed > 0 || now.length > 0 ? 'other ' : ''}trouble.`
      : `Lately, the newest first:\n${lines.join('\n')}`;
  return `${[...paragraphs, processLine(situation), past].map((text) => `${text}\n`).join('\n')}`;
}

function headline({ now, process }: Situation): string {
  if (now.length > 1) return 'Now: all credentials are ready, but there are problems:';
  if (now.length === 1) return 'Now: all credentials are ready, but there is a problem:';
  return `Now: all credentials are ready, and nothing ${process.requestsFailed > 0 ? 'else ' : ''}is known to be wrong.`;
}

function nowLine({ since, what, remedy }: Told, situation: Situation, said = ''): string {
  const { time } = situation;
  const from = since === time ? '' : ` Since ${moment(since, time)}.`;
  return `${situation.ready ? '- ' : 'Now: '}${visible(what)}${from}${whatToDo(remedy, said)}`;
}

function latelyLine(
  { at, since, times, what, remedy, overAt }: Told,
  { time }: Situation,
  said = '',
): string {
  const often = times === 1 ? '' : `, ${times} times since ${moment(since, time)}`;
  const over = overAt === null ? '' : ` Over since ${moment(overAt, time)}.`;
  const todo = overAt === null ? whatToDo(remedy, said) : '';
  return `- ${moment(at, time)}${often}: ${visible(what)}${over}${todo}`;
}

/** @param said what the reader was told to do already */
function whatToDo(remedy: string | null, said: string): string {
  return remedy === null || said.startsWith(remedy) ? '' : ` What to do: ${visible(remedy)}`;
}

function processLine({ time, process }: Situation): string {
  const {
    version,
    pid,
    startedAt,
    configuredAt,
    requestsInFlight,
    requestsKnown,
    requestsFailed,
    mostFailed,
  } = process;
  const { memoryMib, memoryPeakMib, heapMib, heapLimitMib } = process;
  const since = `bearerd ${visible(version)} (process ${pid}) runs since ${moment(startedAt, time)}, with the configuration of ${moment(configuredAt, time)}.`;
  const failedAs =
    requestsFailed > 1 && mostFailed !== null ? ` (${mostFailed.times} ${mostFailed.how})` : '';
  const requests = `Requests: ${requestsKnown} finished recently, ${requestsFailed} of them failed${failedAs}; ${requestsInFlight} in progress.`;
  const memory = `Memory: ${memoryMib} MiB, at most ${memoryPeakMib} MiB so far; heap ${heapMib} MiB of at most ${heapLimitMib} MiB.`;
  return `${since} ${requests} ${memory}`;
}

/** `2026-11-29T11:22:33Z (5 s ago)` */
function moment(iso: string, now: string): string {
  return `${iso.replace(/\.\d+Z$/, 'Z')} (${ago(Date.parse(iso), Date.parse(now))})`;
}
