import { PROBLEMS, REQUEST_URN } from '../base/problem.ts';
import { formatAddress, type ListenAddress } from '../config/values/addresses.ts';
import { visible } from '../observe/visible.ts';
import { failingLogins } from '../observe/why/readiness-words.ts';
import type { Situation } from '../observe/why/situation.ts';
import { troublesText } from '../observe/why/situation-text.ts';
import type { Why } from '../observe/why/why.ts';
import { whyText } from '../observe/why/why-text.ts';
import { absence } from './absence.ts';
import { adminAddress } from './admin-address.ts';
import {
  type AdminAnswer,
  askAdmin,
  isReadiness,
  jsonIn,
  notBearerd,
  type Unanswered,
} from './admin-client.ts';
import { type Command, complain, type OptionValues, print } from './command.ts';
import { EXIT } from './exit-codes.ts';

const REMEMBERED = 'the last 1,000 requests that are over, and the last 200 that failed';

export const why: Command = {
  synopsis: '[ID] [--json] [--admin-listen ADDRESS] [--config FILE]',
  summary: 'says what is wrong and what to do; with an ID why that request went as it did',
  help: `
  ID                       requestId of the log, or instance of an answer of bearerd
  --json                   of the request alone, as JSON
  --admin-listen ADDRESS   where the admin listener of the proxy is

It asks the running proxy, which knows ${REMEMBERED}.
Without an ID it tells of the last request that failed, of what is wrong with the proxy now, and of what went wrong lately.
`,
  examples: ['bearerd why', 'bearerd why k3v9x2ab1f --json'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ADMIN_LISTEN'],
  options: { json: { type: 'boolean' } },
  settings: ['admin-listen'],
  positionals: [0, 1],
  async run(values, [given]) {
    const id = given?.startsWith(REQUEST_URN) ? given.slice(REQUEST_URN.length) : given;
    const address = await adminAddress(values);
    const path = `/requests/${id === undefined ? 'last-failed' : encodeURIComponent(id)}`;
    const answer = await askAdmin(address, path);
    if ('reason' in answer) return unanswered(answer, values);
    const report = reportIn(answer);
    if (id === undefined && values.json !== true) return whatIsWrong(address, answer, report);
    if (report !== undefined) await print(values.json === true ? `${answer.body}\n` : whyText(report));
    return report === undefined ? unreported(answer, address, id) : EXIT.done;
  },
};

async function whatIsWrong(address: ListenAddress, answer: AdminAnswer, lastFailed: Why | undefined) {
  const [told, readyz] = await Promise.all([askAdmin(address, '/troubles'), askAdmin(address, '/readyz')]);
  const situation = situationIn(told);
  if (situation !== undefined) await print(troublesText(situation, lastFailed));
  else await print(failingLine(readyz));
  if (lastFailed !== undefined) return EXIT.done;
  return situation === undefined && answer.status === 404
    ? notOurs(address)
    : unreported(answer, address, undefined);
}

async function unanswered(why: Unanswered, values: OptionValues): Promise<number> {
  complain(why.reason);
  for (const line of await absence(why, values)) complain(line);
  return EXIT.unavailable;
}

/** What a probe may know. An address that is not loopback tells no more. */
function failingLine(readyz: AdminAnswer | Unanswered): string {
  const readiness = 'reason' in readyz ? undefined : jsonIn(readyz);
  if (!isReadiness(readiness)) return '';
  return failingLogins(readiness, undefined)
    .map((line) => `Now: ${visible(line)}\n`)
    .join('');
}

/** Undefined if it isn't told, or another server has answered. */
function situationIn(answer: AdminAnswer | Unanswered): Situation | undefined {
  if ('reason' in answer || answer.status !== 200) return undefined;
  const situation = jsonIn(answer) as Partial<Situation> | null | undefined;
  return Array.isArray(situation?.lately) ? (situation as Situation) : undefined;
}

/** Undefined if the answer holds no report, or another server has answered. */
function reportIn(answer: AdminAnswer): Why | undefined {
  const report = answer.status === 200 ? (jsonIn(answer) as Partial<Why> | null | undefined) : undefined;
  return Array.isArray(report?.attempts) ? (report as Why) : undefined;
}

/** Says why an answer holds no report. @returns the exit code */
function unreported({ status }: AdminAnswer, address: ListenAddress, id: string | undefined): number {
  if (status === 404) {
    complain(
      id === undefined
        ? 'no request has failed since the start'
        : `request ${id} is not known: bearerd remembers ${REMEMBERED}. Run "bearerd why" without an ID for the last that failed`,
    );
    return EXIT.failed;
  }
  if (status !== PROBLEMS['caller-key-required'].status) return notOurs(address);
  const at = formatAddress(address);
  const path = id === undefined ? '/troubles' : `/requests/${encodeURIComponent(id)}`;
  complain(
    `${at} is not a loopback address, and tells requests only to callers with the key: curl -H 'X-Bearerd-Key: …' -H 'Accept: text/plain' http://${at}${path}`,
  );
  return EXIT.unavailable;
}

function notOurs(address: ListenAddress): number {
  complain(`${notBearerd(address)}. bearerd can't start at that address until it stops (exit code 71)`);
  return EXIT.unavailable;
}
