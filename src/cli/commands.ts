import type { Command } from './command.ts';

/** Each command in a module of its own, loaded when it is called. In the order in which the help names them. */
const BY_NAME = {
  start: async () => (await import('./start.ts')).start,
  init: async () => (await import('./init.ts')).init,
  demo: async () => (await import('./demo.ts')).demo,
  mock: async () => (await import('./mock.ts')).mock,
  check: async () => (await import('./check.ts')).check,
  routes: async () => (await import('./routes.ts')).routes,
  render: async () => (await import('./render.ts')).render,
  token: async () => (await import('./token.ts')).token,
  exec: async () => (await import('./exec.ts')).exec,
  why: async () => (await import('./why.ts')).why,
  healthcheck: async () => (await import('./healthcheck.ts')).healthcheck,
  wait: async () => (await import('./wait.ts')).wait,
  schema: async () => (await import('./schema.ts')).schema,
  completion: async () => (await import('./completion.ts')).completionOf(COMMANDS),
} satisfies Readonly<Record<string, () => Promise<Command>>>;

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = BY_NAME;

/** These end by themselves; the others run until a signal. */
export type EndingCommand = Exclude<keyof typeof BY_NAME, 'start' | 'demo' | 'mock'>;
