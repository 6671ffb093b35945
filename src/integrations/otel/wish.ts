import type { Environment } from '../../base/environment.ts';

/** What OpenTelemetry's variables ask for. Holds names and a URL without secrets; other values are never shown. */
type TracingWish =
  | { readonly kind: 'off'; readonly why: string | undefined }
  | {
      readonly kind: 'on';
      /** The URL for traces, without user, password and query. */
      readonly collector: string;
      /** Which values are not valid, and what is used instead. */
      readonly notes: readonly string[];
    };

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];

/**
 * Reads the variables that decide whether there are traces. The SDK reads the others itself, and silently ignores invalid
 * values. Nothing here prevents the start: the proxy works without traces.
 */
export function tracingWish(env: Environment): TracingWish {
  if (setIn(env, 'OTEL_SDK_DISABLED')?.value.toLowerCase() === 'true') return off();
  const exporter = setIn(env, 'OTEL_TRACES_EXPORTER');
  if (exporter?.value === 'none') return off();
  if (exporter !== undefined && !exporter.value.split(',').some((name) => name.trim() === 'otlp'))
    return off(`${exporter.name} asks for an exporter other than otlp, the only one that bearerd has`);
  const protocol = specific(env, 'PROTOCOL');
  if (protocol !== undefined && !protocol.value.startsWith('http/'))
    return off(
      `${protocol.name} asks for a protocol other than OTLP over HTTP, the only one that bearerd has`,
    );
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
    return [`OTEL_TRACES_SAMPLER is none of ${SAMPLERS.join(', ')}: parentbased_always_on is used`];
  if (!sampler.endsWith('traceidratio')) return [];
  const ratio = Number(setIn(env, 'OTEL_TRACES_SAMPLER_ARG')?.value);
  return ratio >= 0 && ratio <= 1 ? [] : ['OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1: 1 is used'];
}

/** OpenTelemetry treats an empty variable as not set. */
function setIn(env: Environment, name: string) {
  const value = env[name]?.trim() ?? '';
  return value === '' ? undefined : { name, value };
}

function off(why?: string): TracingWish {
  return { kind: 'off', why };
}
