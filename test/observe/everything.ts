import { inspect } from 'node:util';
import { ListenError } from '../../src/base/errors.ts';
import type { Event } from '../../src/base/events.ts';
import { LoginError } from '../../src/base/login-error.ts';
import { PROBLEMS, Problem, type ProblemCode } from '../../src/base/problem.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/observe/log.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { canary } from '../fuzz/canaries.ts';

// A process that logs every kind of event, with a secret in every place where a library or an answer could have put one.
// The first argument is the log level. Metrics go to stderr.

const SECRET = canary('-secret+/&"é\\');
const forms = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  JSON.stringify(SECRET),
];

/** An error of a library: its message, its stack and its properties may hold anything. */
function libraryError(form: string): Error {
  const error = new Error(`Invalid value: ${form}`, { cause: { detail: form } });
  return Object.assign(error, {
    code: 'ERR_X',
    rawPacket: Buffer.from(form),
    headers: { authorization: form },
  });
}

function events(form: string): Event[] {
  const cause = libraryError(form);
  const kinds = ['unreachable', 'server-error', 'rate-limited', 'unusable', 'redirected', 'refused'] as const;
  return [
    ...kinds.map((code): Event => {
      const error = new LoginError(code, 'a login failed', { status: 401, cause });
      return {
        type: 'login-failed',
        credential: 'token',
        state: 'refused',
        durationMs: 1,
        error,
        nextTryInMs: 1,
        usable: false,
      };
    }),
    ...(Object.keys(PROBLEMS) as ProblemCode[]).map((code): Event => {
      return {
        type: 'upstream-failed',
        code,
        route: '/',
        detail: 'It failed.',
        remedy: undefined,
        cause: new Problem(code, { cause }),
      };
    }),
    ...[cause, new ListenError('x', { cause }), form, { form }, null, undefined].map((thrown): Event => {
      return { type: 'internal-error', where: 'somewhere', cause: thrown };
    }),
  ];
}

const [level = 'trace'] = process.argv.slice(2);
const log = await createLog({ level: 'trace', format: 'json' });
log.setLevel(level);
const metrics = createMetrics({
  version: '1',
  inFlight: () => 0,
  tunnels: () => 0,
  waiting: () => 0,
  secretFiles: () => new Map(),
  tokens: () => new Map(),
  droppedLogLines: log.dropped,
});
for (const form of forms) {
  for (const event of events(form)) {
    log.observe(event);
    metrics.observe(event);
  }
}
const config = await loadConfig({
  env: {
    BEARERD_BASE_URL: 'https://a.example',
    BEARERD_CLIENT_ID: SECRET,
    BEARERD_CLIENT_SECRET: SECRET,
    BEARERD_CALLER_KEY: canary(''),
  },
  readFile: () => {
    throw Object.assign(new Error(SECRET), { code: 'ENOENT' });
  },
  cwd: '/nowhere',
});
log.error({ config, shown: inspect(config, { depth: 20 }) }, 'a configuration');
process.stderr.write((await metrics.render()).text);
log.observe({ type: 'stopped', cut: 1 });
await log.close();
