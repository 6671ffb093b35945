import { ago } from '../base/span.ts';
import type { Situation, Told } from './situation.ts';
import { visible } from './visible.ts';
import type { Why } from './why.ts';
import { whyText } from './why-text.ts';

/** What `bearerd why` says without an ID: the last request that failed, what is wrong now, what went wrong lately. */
export function troublesText(situation: Situation, lastFailed: Why | undefined): string {
  const request = lastFailed === undefined ? '' : `${whyText(lastFailed, Date.parse(situation.time))}\n`;
  return `${request}${situationText(situation, lastFailed?.remedy ?? undefined)}`;
}

/** @param saidRemedy what the reader was told to do just before, and isn't told again */
export function situationText(situation: Situation, saidRemedy?: string): string {
  const { now, lately } = situation;
  const paragraphs = [...headlines(situation), ...now.map((told) => nowLine(told, situation, saidRemedy))];
  const lines = lately.map((told) => latelyLine(told, situation, saidRemedy));
  const past = lines.length === 0 ? 'Lately: no trouble.' : `Lately, the newest first:\n${lines.join('\n')}`;
  return `${[...paragraphs, processLine(situation), past].map((text) => `${text}\n`).join('\n')}`;
}

function headlines({ ready, now }: Situation): string[] {
  if (!ready) return [];
  return [
    now.length === 0
      ? 'Now: every credential is ready, and nothing is known to be wrong.'
      : 'Now: every credential is ready, and this is wrong:',
  ];
}

function nowLine({ since, what, remedy }: Told, { time }: Situation, said = ''): string {
  const from = since === time ? '' : ` Since ${moment(since, time)}.`;
  return `Now: ${visible(what)}${from}${whatToDo(remedy, said)}`;
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
  const { version, pid, startedAt, configuredAt, requestsInFlight, requestsKnown, requestsFailed } = process;
  const { memoryMib, memoryPeakMib, heapMib, heapLimitMib } = process;
  const since = `bearerd ${visible(version)} (process ${pid}) runs since ${moment(startedAt, time)}, with the configuration of ${moment(configuredAt, time)}.`;
  const requests = `Requests: ${requestsKnown} over lately, ${requestsFailed} of them failed; ${requestsInFlight} under way.`;
  const memory = `Memory: ${memoryMib} MiB, at most ${memoryPeakMib} MiB so far; its heap has ${heapMib} MiB and may have ${heapLimitMib}.`;
  return `${since} ${requests} ${memory}`;
}

/** `2026-11-29T11:22:33Z (5 s ago)` */
function moment(iso: string, now: string): string {
  return `${iso.replace(/\.\d+Z$/, 'Z')} (${ago(Date.parse(iso), Date.parse(now))})`;
}
