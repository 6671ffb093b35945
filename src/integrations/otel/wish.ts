/** What OpenTelemetry's variables ask for. Shown are names only: a value may hold a secret. */
export type TracingWish =
  | { readonly kind: 'off'; readonly why: string | undefined }
  | {
      readonly kind: 'on';
      /** Where traces go to, as it may be shown. */
      readonly collector: string;
      /** What of the variables is not understood, and what holds instead. */
      readonly notes: readonly string[];
    };

type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];

/**
 * Reads what decides whether there are traces at all; the SDK reads the rest for itself, and says nothing where it
 * doesn't understand. Nothing here is a reason not to start: a proxy without traces is still a proxy.
 */
export function tracingWish(env: Environment): TracingWish {
  if (setIn(env, 'OTEL_SDK_DISABLED')?.value.toLowerCase() === 'true') return off();
  const exporter = setIn(env, 'OTEL_TRACES_EXPORTER');
  if (exporter?.value === 'none') return off();
  if (exporter !== undefined && !exporter.value.split(',').some((name) => name.trim() === 'otlp'))
    return off(`${exporter.name} asks for another exporter than otlp, the only one that there is`);
  const protocol = specific(env, 'PROTOCOL');
  if (protocol !== undefined && !protocol.value.startsWith('http/'))
    return off(`${protocol.name} asks for another protocol than OTLP over HTTP, the only one that there is`);
  const endpoint = specific(env, 'ENDPOINT');
  if (endpoint === undefined) return off();
  const url = URL.parse(endpoint.value);
  if (url === null || !/^https?:$/.test(url.protocol))
    return off(`${endpoint.name} is not a URL that begins with http:// or https://`);
  const path = endpoint.name.includes('TRACES')
    ? url.pathname
    : `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return { kind: 'on', collector: url.origin + path, notes: samplerNotes(env) };
}

/** The variable for traces wins over the one for all signals. */
export function specific(
  env: Environment,
  name: string,
): { readonly name: string; readonly value: string } | undefined {
  return setIn(env, `OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? setIn(env, `OTEL_EXPORTER_OTLP_${name}`);
}

function samplerNotes(env: Environment): string[] {
  const sampler = setIn(env, 'OTEL_TRACES_SAMPLER')?.value;
  if (sampler === undefined) return [];
  if (!SAMPLERS.includes(sampler))
    return [`OTEL_TRACES_SAMPLER is none of ${SAMPLERS.join(', ')}: it is taken for parentbased_always_on`];
  if (!sampler.endsWith('traceidratio')) return [];
  const ratio = Number(setIn(env, 'OTEL_TRACES_SAMPLER_ARG')?.value);
  return ratio >= 0 && ratio <= 1
    ? []
    : ['OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: it is taken for 1'];
}

/** Empty is the same as not set, as OpenTelemetry has it. */
function setIn(env: Environment, name: string) {
  const value = env[name]?.trim() ?? '';
  return value === '' ? undefined : { name, value };
}

function off(why?: string): TracingWish {
  return { kind: 'off', why };
}
