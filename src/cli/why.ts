import { codeOf } from '../base/failures/kind.ts';
import type { ListenAddress } from '../config/config.ts';
import { formatAddress } from '../config/values/addresses.ts';
import type { Readiness } from '../observe/status.ts';
import { visible } from '../observe/visible.ts';
import type { Why } from '../observe/why.ts';
import { whyText } from '../observe/why-text.ts';
import { type Command, complain, print } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { adminAddress } from './probe.ts';
import { failingLogins } from './readiness-words.ts';
import { answerTo } from './sight.ts';

const URN = 'urn:bearerd:request:';

export const why: Command = {
  synopsis: '[ID] [--json] [--admin-listen ADDRESS] [--config FILE]',
  summary: 'says why a request went as it did, and what to do; without an ID the last that failed',
  help: '\n  ID                       requestId of the log, or instance of an answer of bearerd\n  --json                   the same as JSON\n  --admin-listen ADDRESS   where the admin listener of the proxy is\n\nIt asks the running proxy, which knows the last 1,000 requests and the last 200 that failed. Without an ID it also says which login fails now.\n',
  examples: ['bearerd why', 'bearerd why k3v9x2ab1f --json'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ADMIN_LISTEN'],
  options: { json: { type: 'boolean' } },
  settings: ['admin-listen'],
  positionals: [0, 1],
  async run(values, [given]) {
    const id = given?.startsWith(URN) ? given.slice(URN.length) : given;
    const address = await adminAddress(values);
    const path = `/requests/${id === undefined ? 'last-failed' : encodeURIComponent(id)}`;
    const answer = await asked(address, path);
    if (typeof answer === 'string') {
      complain(answer);
      return EXIT.unavailable;
    }
    const report = answer.status === 200 ? reportIn(answer.body) : undefined;
    const now = id === undefined && values.json !== true ? await failingNow(address) : '';
    if (report !== undefined) {
      await print(values.json === true ? `${answer.body}\n` : `${whyText(report)}${now}`);
      return EXIT.done;
    }
    if (now !== '') await print(now);
    const at = formatAddress(address);
    complain(
      answer.status === 404
        ? unknown(id)
        : `${at} answers ${answer.status}, and not as bearerd does: check the admin address`,
    );
    return answer.status === 404 ? EXIT.failed : EXIT.unavailable;
  },
};

/** What is wrong besides that request: a paragraph for each credential whose login fails; mostly none. */
async function failingNow(address: ListenAddress): Promise<string> {
  const both = await Promise.all([asked(address, '/readyz'), asked(address, '/status')]);
  const [readiness, status] = both.map((answer) => parsed(typeof answer === 'string' ? '' : answer.body));
  if (typeof (readiness as Partial<Readiness> | undefined)?.credentials !== 'object') return '';
  return failingLogins(readiness as Readiness, status)
    .map((line) => `\nNow: ${visible(line)}\n`)
    .join('');
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined where something else than bearerd has answered. */
function reportIn(body: string): Why | undefined {
  const report = parsed(body) as Partial<Why> | null | undefined;
  return Array.isArray(report?.attempts) ? (report as Why) : undefined;
}

function unknown(id: string | undefined): string {
  if (id === undefined) return 'no request has failed since the start';
  return `${id} is not known: only requests that are over are, the last 1,000 and the last 200 that failed`;
}

/** The answer, or why there is none. `localhost` is both of its addresses. */
async function asked(
  address: ListenAddress,
  path: string,
): Promise<Awaited<ReturnType<typeof answerTo>> | string> {
  const isBoth = address.kind === 'tcp' && address.host === 'localhost';
  const addresses = isBoth ? ['127.0.0.1', '::1'].map((host) => ({ ...address, host })) : [address];
  let code = '';
  for (const each of addresses) {
    try {
      return await answerTo(each, path);
    } catch (error) {
      code ||= codeOf(error);
    }
  }
  return `nothing that can be asked runs at ${formatAddress(address)} (${code})`;
}
