import assert from 'node:assert/strict';
import { type RequestOptions, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from './engine.ts';

// Questions to a running container.

const LIMIT_MS = 60_000;

export interface Probe {
  readonly httpGet: { readonly path: string };
}

/** Probes until the answer is 200. The request comes from within the pod, whose network may be isolated. */
export async function probe(engine: Engine, name: string, { httpGet }: Probe, port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}${httpGet.path}`;
  const call = `const { status } = await fetch('${url}').catch(() => ({ status: 0 })); console.log(status)`;
  let status = '';
  for (const began = Date.now(); status !== '200'; await delay(100)) {
    assert.ok(Date.now() - began < LIMIT_MS, `${url} answers ${status}`);
    status = engine.podman('exec', name, 'node', '--input-type=module', '--eval', call);
  }
}

export async function until(engine: Engine, name: string, pattern: RegExp): Promise<void> {
  for (const began = Date.now(); !pattern.test(engine.podman('logs', name)); await delay(100))
    assert.ok(
      Date.now() - began < LIMIT_MS,
      `${name} does not say ${pattern}:\n${engine.podman('logs', name)}`,
    );
}

export function portOf(engine: Engine, name: string, port: number): number {
  return Number(engine.podman('port', name, `${port}/tcp`).split(':').at(-1));
}

export function memoryOf(engine: Engine, name: string): string {
  const [{ mem_usage: usage }] = JSON.parse(engine.podman('stats', '--no-stream', '--format', 'json', name));
  return usage.split(' / ')[0];
}

export function startedIn(engine: Engine, name: string): number {
  const [, time = ''] = /"time":"([^"]+)".*listening on/.exec(engine.podman('logs', name)) ?? [];
  const started = JSON.parse(engine.podman('inspect', name))[0].State.StartedAt;
  return Date.parse(time) - Date.parse(started);
}

/** The status of a request. Not with `fetch`, which sets its own Host. */
export function statusOf(options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ ...options, signal: AbortSignal.timeout(10_000) }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end();
  });
}
