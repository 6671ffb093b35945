import { type Command, textOption } from './command.ts';
import { ConfigurationSource } from './configuration.ts';
import { serve } from './serve.ts';

export const start: Command = {
  synopsis: '[--config FILE]',
  summary: 'runs the proxy',
  help: '\nSIGHUP reads the configuration again; SIGTERM stops when the requests under way are done.\n',
  options: {},
  positionals: [0, 0],
  run: async (values) =>
    serve({ source: new ConfigurationSource(process.env, textOption(values, 'config')), fd: 1 }),
};
