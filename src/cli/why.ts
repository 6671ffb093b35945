import { PROBLEMS, REQUEST_URN } from '../base/problem.ts';
import { formatAddress, type ListenAddress } from '../config/values/addresses.ts';
import { visible } from '../observe/visible.ts';
import type { Why } from '../observe/why.ts';
import { whyText } from '../observe/why-text.ts';
import { type Command, complain, print } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { adminAddress } from './probe.ts';
import { failingLogins } from './readiness-words.ts';
import { type AdminAnswer, askAdmin, isReadiness, jsonIn, notBearerd } from './sight.ts';

const REMEMBERED = 'the last 1,000 requests that are over, and the last 200 that failed';

export const why: Command = {
  synopsis: '[ID] [--json] [--admin-listen ADDRESS] [--config FILE]',
  summary: 'says why a request went as it did, and what to do; without an ID the last that failed',
  help: `
  ID                       requestId of the log, or instance of an answer of bearerd
  --json                   the same as JSON
  --admin-listen ADDRESS   where the admin listener of the proxy is

It asks the running proxy, which knows ${REMEMBERED}. Without an ID it also says which login fails now.
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
    if (typeof answer === 'string') {
      complain(answer);
      return EXIT.unavailable;
    }
    const report = reportIn(answer);
    const now = id === undefined && values.json !== true ? await failingNow(address) : '';
    if (report !== undefined) {
      await print(values.json === true ? `${answer.body}\n` : `${whyText(report)}${now}`);
      return EXIT.done;
    }
    if (now !== '') await print(now.trimStart());
    complain(unreported(answer, address, path, id));
    return answer.status === 404 ? EXIT.failed : EXIT.unavailable;
  },
};

/** A paragraph for each credential whose login fails now; mostly none. */
async function failingNow(address: ListenAddress): Promise<string> {
  const both = await Promise.all([askAdmin(address, '/readyz'), askAdmin(address, '/status')]);
  const [readiness, status] = both.map((answer) => (typeof answer === 'string' ? undefined : jsonIn(answer)));
  if (!isReadiness(readiness)) return '';
  return failingLogins(readiness, status)
    .map((line) => `\nNow: ${visible(line)}\n`)
    .join('');
}

/** Undefined where the answer holds no report, or another server has answered. */
function reportIn(answer: AdminAnswer): Why | undefined {
  const report = answer.status === 200 ? (jsonIn(answer) as Partial<Why> | null | undefined) : undefined;
  return Array.isArray(report?.attempts) ? (report as Why) : undefined;
}

/** Why an answer holds no report. */
function unreported(
  { status }: AdminAnswer,
  address: ListenAddress,
  path: string,
  id: string | undefined,
): string {
  if (status === 404 && id === undefined) return 'no request has failed since the start';
  if (status === 404)
    return `request ${id} is not known: bearerd remembers ${REMEMBERED}. Run "bearerd why" without an ID for the last that failed`;
  if (status !== PROBLEMS['caller-key-required'].status) return notBearerd(address);
  const at = formatAddress(address);
  return `${at} is not a loopback address, and tells requests only to callers with the key: curl -H 'X-Bearerd-Key: …' http://${at}${path}`;
}
