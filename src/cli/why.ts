import { codeOf } from '../base/failures/kind.ts';
import type { ListenAddress } from '../config/config.ts';
import { formatAddress } from '../config/values/addresses.ts';
import type { Why } from '../observe/why.ts';
import { whyText } from '../observe/why-text.ts';
import { type Command, complain, print } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { adminAddress } from './probe.ts';
import { answerTo } from './sight.ts';

const URN = 'urn:bearerd:request:';

export const why: Command = {
  synopsis: '[ID] [--json] [--admin-listen ADDRESS] [--config FILE]',
  summary: 'says why a request went as it did, and what to do; without an ID the last that failed',
  help: '\n  ID                       requestId of the log, or instance of an answer of bearerd\n  --json                   the same as JSON\n  --admin-listen ADDRESS   where the admin listener of the proxy is\n\nIt asks the running proxy, which knows the last 1,000 requests and the last 200 that failed.\n',
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
    if (report !== undefined) {
      await print(values.json === true ? `${answer.body}\n` : whyText(report));
      return EXIT.done;
    }
    const at = formatAddress(address);
    complain(
      answer.status === 404
        ? unknown(id)
        : `${at} answers ${answer.status}, and not as bearerd does: check the admin address`,
    );
    return answer.status === 404 ? EXIT.failed : EXIT.unavailable;
  },
};

/** Undefined where something else than bearerd has answered. */
function reportIn(body: string): Why | undefined {
  try {
    const report = JSON.parse(body) as Partial<Why> | null;
    return Array.isArray(report?.attempts) ? (report as Why) : undefined;
  } catch {
    return undefined;
  }
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
