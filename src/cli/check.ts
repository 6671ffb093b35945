import { ConfigError, ConfigFileError } from '../base/config-error.ts';
import { UsageError } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import { annotated, filesRead } from '../config/shown/annotated.ts';
import { jsonReport, keysNotTried, notTried, warningLines } from './check-report.ts';
import { type Command, complain, print } from './command.ts';
import { configurationOf } from './configuration.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { type OneRequest, oneRequest } from './one-request.ts';
import { asLine, type Finding, withRemedy } from './online/check-result.ts';

export const check: Command = {
  synopsis: '[--online [METHOD PATH]] [--json] [--config FILE]',
  summary: 'reads the whole configuration, names every fault, and prints what is in force',
  help: `
  --online               also asks each server for one answer, without a credential, and logs in with each
                         credential that is a token
  --online METHOD PATH   sends that one request, too, as the proxy would (GET unless METHOD is given); in place of
                         PATH a URL asks the host of a route (http://orders.localhost/x)
  --json                 faults and checks as JSON, in place of what is in force
`,
  examples: [
    'bearerd check',
    'bearerd check --online --config bearerd.yaml',
    'bearerd check --online --json GET /companies/example.com',
  ],
  variables: ['BEARERD_CONFIG', 'BEARERD_BASE_URL', 'BEARERD_CLIENT_ID', 'BEARERD_CLIENT_SECRET_FILE'],
  options: { online: { type: 'boolean' }, json: { type: 'boolean' } },
  positionals: [0, 2],
  settings: true,
  async run(values, positionals) {
    const isOnline = values.online === true;
    const request = requestOf(positionals, isOnline);
    if (values.json !== true) {
      const config = await configurationOf(values);
      await print(`${sources(config)}${await annotated(config)}`);
      await print(warningLines(config));
      if (!isOnline) return tell(keysNotTried(config));
      return tell(await online(config, request), request === undefined ? NO_REQUEST : '');
    }
    try {
      const config = await configurationOf(values);
      const findings = isOnline ? await online(config, request) : [];
      await print(jsonReport([], findings, config.warnings));
      return exitCode(findings);
    } catch (error) {
      const faults = faultsOf(error);
      if (faults === undefined) throw error;
      await print(jsonReport(faults, isOnline ? notTried(faults) : []));
      return exitCodeOf(error) ?? EXIT.failed;
    }
  },
};

function requestOf(positionals: readonly string[], isOnline: boolean): OneRequest | undefined {
  const request = oneRequest('check --online', positionals);
  if (request === undefined) return undefined;
  if (!isOnline) throw new UsageError('a request needs --online: bearerd check --online METHOD PATH');
  if (request.method === 'CONNECT') throw new UsageError('CONNECT is never forwarded; give another method');
  if (/^(?:https?:\/\/[^/?#\s]+)?\/[!-~]*$/i.test(request.target)) return request;
  throw new UsageError(
    'PATH must begin with / (or be a URL), and hold no blanks and no letters beyond ASCII: write those as %XX',
  );
}

/** Loaded as a part of its own: with it come the proxy and all that it needs. */
async function online(config: Config, request: OneRequest | undefined): Promise<readonly Finding[]> {
  const { onlineChecks } = await import('./online/checks.ts');
  return onlineChecks(config, request);
}

/** What was read, and what was not though it is there. */
function sources(config: Config): string {
  const read = ['flags', 'the environment', ...filesRead(config)].join(', ');
  const ignored = '# .env is not read, since a configuration file is named\n';
  return `# Read: ${read}\n${config.dotEnv === 'ignored' ? ignored : ''}`;
}

/** An API may refuse what logs in well. */
const NO_REQUEST =
  '# No request was sent: add GET PATH to try one (bearerd check --online GET /some/path).\n';

/**
 * Lines for a person, and on stderr why the exit code is not 0.
 *
 * @param note what to add if nothing has failed
 */
async function tell(findings: readonly Finding[], note = ''): Promise<number> {
  const failures = findings.filter(({ ok }) => ok === false);
  const checks = failures.length === 1 ? 'a check' : `${failures.length} checks`;
  const verdict = findings.every(({ ok }) => ok === null)
    ? ''
    : failures.length === 0
      ? '; every check passed'
      : `; ${checks} failed`;
  const hint = failures.length === 0 ? note : '';
  await print(`${findings.map(asLine).join('')}${hint}# The configuration is valid${verdict}.\n`);
  const code = exitCode(findings);
  const gravest = failures.findLast((finding) => finding.exitCode === code);
  if (gravest !== undefined) complain(`${gravest.subject}: ${withRemedy(gravest.detail, gravest.remedy)}`);
  return code;
}

/** The worst result decides: refused credentials before a server that can't be reached. */
function exitCode(findings: readonly Finding[]): number {
  return Math.max(EXIT.done, ...findings.map((finding) => finding.exitCode));
}

function faultsOf(error: unknown): ConfigError['faults'] | undefined {
  if (error instanceof ConfigError) return error.faults;
  if (!(error instanceof ConfigFileError)) return undefined;
  return [{ key: error.path, problem: error.reason }];
}
