import t from 'tap';
import { tracingWish } from '../../../src/integrations/otel/wish.ts';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const TRACES = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const on = (collector: string, ...notes: string[]) => ({ kind: 'on', collector, notes });
const off = (why?: string) => ({ kind: 'off', why });

t.test('an endpoint variable asks for traces; the one for traces only is used unchanged', async (t) => {
  for (const [env, wish] of [
    [{ [ENDPOINT]: 'http://collector:4318' }, on('http://collector:4318/v1/traces')],
    [{ [ENDPOINT]: 'https://c.example/otlp/' }, on('https://c.example/otlp/v1/traces')],
    [{ [TRACES]: 'http://c/x', [ENDPOINT]: 'http://d' }, on('http://c/x')],
    [{ [TRACES]: ' ', [ENDPOINT]: 'http://d' }, on('http://d/v1/traces')],
    [{ [ENDPOINT]: '' }, off()],
    [{}, off()],
  ] as const)
    t.same(tracingWish(env), wish);
});

t.test('parts of a URL that may hold a secret are not shown', async (t) => {
  t.same(tracingWish({ [TRACES]: 'https://user:pass@c.example/t?key=k#f' }), on('https://c.example/t'));
  t.notMatch(JSON.stringify(tracingWish({ [ENDPOINT]: 'user:pass@c.example' })), /pass/);
});

t.test(
  'there are no traces if none are asked for; if bearerd lacks the exporter or the protocol, it says so',
  async (t) => {
    const with_ = (env: Record<string, string>) => tracingWish({ [ENDPOINT]: 'http://c', ...env });
    t.same(with_({ OTEL_SDK_DISABLED: 'TRUE' }), off());
    t.same(with_({ OTEL_SDK_DISABLED: 'false' }).kind, 'on');
    t.same(with_({ OTEL_TRACES_EXPORTER: 'none' }), off());
    t.same(with_({ OTEL_TRACES_EXPORTER: 'console, otlp' }).kind, 'on');
    t.match(
      with_({ OTEL_TRACES_EXPORTER: 'zipkin' }),
      off(/OTEL_TRACES_EXPORTER asks for an exporter other/ as never),
    );
    t.match(
      with_({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }),
      off(/^OTEL_EXPORTER_OTLP_PROTOCOL asks/ as never),
    );
    t.same(
      with_({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }).kind,
      'on',
    );
    for (const url of ['collector:4318', 'grpc://c:4317', 'localhost', '/v1'])
      t.match(
        tracingWish({ [ENDPOINT]: url }),
        off(/^OTEL_EXPORTER_OTLP_ENDPOINT is not a URL that begins with http:\/\/ or https:\/\// as never),
        url,
      );
  },
);

t.test('bearerd warns of a sampler setting that the SDK would silently replace', async (t) => {
  const notes = (sampler: string, arg?: string) => {
    const wish = tracingWish({
      [ENDPOINT]: 'http://c',
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: arg,
    });
    return wish.kind === 'on' ? wish.notes.join() : wish;
  };
  for (const sampler of ['', 'always_on', 'always_off', 'parentbased_always_off'])
    t.equal(notes(sampler), '');
  for (const sampler of ['traceidratio', 'parentbased_traceidratio']) {
    for (const arg of ['0', '0.25', '1']) t.equal(notes(sampler, arg), '');
    for (const arg of [undefined, '', '2', '-1', 'x'])
      t.match(notes(sampler, arg), /OTEL_TRACES_SAMPLER_ARG/);
  }
  t.match(notes('jaeger_remote'), /parentbased_always_on is used/);
});
