import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import t from 'tap';
import { environmentSchema } from '../src/config/reading/environment.ts';

// The bundle has scripts/stand-ins in place of some packages. These tests check what the stand-ins rely on in those
// packages, so that a new version with a change fails here and not at a user's start.

const require = createRequire(import.meta.url);
const text = (specifier: string) => readFileSync(require.resolve(specifier), 'utf8');

t.test('each export of the stand-in of undici is the export of undici', async (t) => {
  const standIn = require('../scripts/stand-ins/undici.cjs') as Record<string, unknown>;
  const undici = require('undici') as Record<string, unknown>;
  for (const [name, value] of Object.entries(standIn)) t.equal(value, undici[name], name);
});

t.test('the dispatchers of the stand-in have the methods that the index of undici adds', async (t) => {
  const { Dispatcher, Agent } = require('../scripts/stand-ins/undici.cjs');
  for (const verb of Object.keys(require('undici/lib/api')))
    t.type(Dispatcher.prototype[verb], 'function', verb);
  const agent = new Agent();
  t.ok(agent instanceof Dispatcher);
  await agent.destroy();
});

t.test('the stand-in has everything of undici that reply-from uses', async (t) => {
  const source = text('@fastify/reply-from/lib/request.js');
  const used = new Set([...source.matchAll(/\bundici\.([A-Za-z]+)\b(?! ===)/g)].map(([, name]) => name!));
  const standIn = require('../scripts/stand-ins/undici.cjs') as Record<string, unknown>;
  // These are used only with options that we don't set, or for a request of reply-from's own, which it never makes.
  const unreached = ['BalancedPool', 'ProxyAgent', 'getGlobalDispatcher', 'Client'];
  t.same(
    [...used].filter((name) => !(name in standIn) && !unreached.includes(name)),
    [],
  );
});

t.test('prom-client uses OpenTelemetry only for exemplars, which are off', async (t) => {
  const folder = dirname(require.resolve('prom-client'));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const asking = files.filter((name) => readFileSync(join(folder, name), 'utf8').includes('@opentelemetry/'));
  t.same(asking, ['lib/metrics/processCpuTotal.js']);
  const source = readFileSync(join(folder, asking[0]!), 'utf8');
  const [before = '', after = ''] = source.split('if (this.enableExemplars) {');
  t.equal(before.match(/OtelApi/g)?.length, 1, 'the one use is the import');
  t.notMatch(after.slice(after.indexOf('} else {')), /OtelApi/);
  t.notMatch(readFileSync(new URL('../src/observe/metrics.ts', import.meta.url), 'utf8'), /xemplar/);
});

t.test('the stand-in of Ajv omits only the check of the schema', async (t) => {
  const Ajv = require('ajv');
  const StandIn = require('../scripts/stand-ins/ajv.cjs');
  const wrong = { type: 'object', properties: { a: { minLength: 'many' } } };
  t.throws(() => new Ajv({ strict: false }).compile(wrong), /schema is invalid/);
  t.ok(new StandIn({ strict: false }) instanceof Ajv);
  t.equal(new StandIn({}).opts.validateSchema, false);
  t.equal(new StandIn({}).opts.meta, false);
  for (const data of [{ a: 1 }, { a: 'text' }, { b: null }, []]) {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    t.equal(new StandIn().compile(schema)(data), new Ajv().compile(schema)(data), JSON.stringify(data));
  }
});

t.test('the schema that is not checked at the start is valid', async (t) => {
  const Ajv = require('ajv');
  const ajv = new Ajv({ strict: true });
  t.ok(ajv.validateSchema(environmentSchema()), ajv.errorsText());
});

t.test('env-schema creates its Ajv as the stand-in expects', async (t) => {
  const source = text('env-schema');
  t.match(source, /const Ajv = require\('ajv'\)/);
  t.equal([...source.matchAll(/new Ajv\(/g)].length, 1);
});
