import { networkInterfaces } from 'node:os';
import { ConfigError } from '../base/config-error.ts';
import { UsageError } from '../base/errors.ts';
import { boundHosts, isLoopbackName, type ListenAddress } from '../config/values/addresses.ts';
import { addresses } from '../config/values/vocabulary.ts';
import { type Command, print, textOption } from './command.ts';
import { configurationWithoutSecrets } from './configuration.ts';
import { EXIT } from './exit-codes.ts';
import { tablesOf } from './route-tables.ts';
import { ASK_FOR_TRACES } from './traces.ts';

const DEFAULT_LISTEN = 'localhost:9182';

export const render: Command = {
  synopsis: 'haproxy [--listen ADDRESS] [--config FILE]',
  summary: 'prints the configuration of a HAProxy in front, which takes plain requests past bearerd',
  help: `
  --listen ADDRESS   where clients find HAProxy (${DEFAULT_LISTEN}); bearerd itself listens where "listen" says

It needs a sink in the file, by which HAProxy is given the credentials:
  sinks: [{ haproxy: unix:/run/bearerd/haproxy.sock, map: /etc/haproxy/credentials.map }]
`,
  examples: [
    'bearerd render haproxy --config bearerd.yaml > haproxy.cfg',
    'bearerd render haproxy --listen localhost:8080',
  ],
  variables: ['BEARERD_CONFIG', 'BEARERD_LISTEN'],
  options: { listen: { type: 'string' } },
  positionals: [1, 1],
  settings: true,
  async run({ listen: _listen, ...settings }, [target = '']) {
    if (target !== 'haproxy')
      throw new UsageError(`${target}: the one thing that can be rendered is haproxy`);
    const listen = listenOf(textOption({ listen: _listen }, 'listen') ?? DEFAULT_LISTEN);
    const config = await configurationWithoutSecrets(settings);
    const traced = ASK_FOR_TRACES.find((name) => (process.env[name] ?? '') !== '');
    if (traced !== undefined)
      throw new ConfigError([{ key: traced, problem: 'HAProxy would begin no traces; leave it out' }]);
    const { haproxyConfiguration } = await import('../integrations/haproxy/configuration.ts');
    await print(haproxyConfiguration(config, tablesOf(config), listen));
    return EXIT.done;
  },
};

/** HAProxy binds each address by itself, and doesn't start if one is missing. */
function listenOf(text: string): readonly ListenAddress[] {
  const parsed = addresses.parse(text);
  if ('problem' in parsed) throw new ConfigError([{ key: '--listen', problem: parsed.problem }]);
  const hasV6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  );
  return parsed.value.flatMap((address) => {
    if (address.kind !== 'tcp' || !isLoopbackName(address.host)) return [address];
    const hosts = boundHosts(address.host).filter((host) => hasV6 || host !== '::1');
    return hosts.map((host) => ({ ...address, host }));
  });
}
