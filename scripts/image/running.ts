import assert from 'node:assert/strict';
import { type RequestOptions, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from './engine.ts';

// What a container that runs can be asked.

const LIMIT_MS = 60_000;

export interface Probe {
  readonly exec?: { readonly command: readonly string[] };
  readonly httpGet?: { readonly path: string };
}

/** @throws when the command doesn't end with 0. */
export function probe(engine: Engine, name: string, { exec }: Probe): void {
  engine.podman('exec', name, ...exec!.command);
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

/** `fetch` sets a Host of its own. */
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
