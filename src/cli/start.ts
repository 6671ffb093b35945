import type { Command } from './command.ts';
import { sourceOf } from './configuration.ts';
import { serve } from './serve.ts';

export const start: Command = {
  synopsis: '[--config FILE]',
  summary: 'runs the proxy',
  help: '\nSIGHUP reads the configuration again; SIGTERM stops when the requests under way are done.\n',
  options: {},
  positionals: [0, 0],
  settings: true,
  run: async (values) => serve({ source: sourceOf(values), fd: 1 }),
};
