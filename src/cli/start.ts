import type { Command } from './command.ts';
import { configurationSource } from './configuration.ts';
import { serve } from './serve.ts';

export const start: Command = {
  synopsis: '[--config FILE]',
  summary: 'runs the proxy',
  help: '\nSIGHUP reads the configuration again; SIGTERM stops when the requests under way are done.\n',
  examples: [
    'bearerd start --config bearerd.yaml',
    'bearerd --base-url https://api.example.com --api-key-file /run/secrets/api_key',
  ],
  variables: ['BEARERD_CONFIG', 'BEARERD_BASE_URL', 'BEARERD_CLIENT_ID', 'BEARERD_CLIENT_SECRET_FILE'],
  options: {},
  positionals: [0, 0],
  settings: true,
  run: async (values) => serve({ source: configurationSource(values) }),
};
