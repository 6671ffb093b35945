import t from 'tap';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { ask, until } from '../support/raw-client.ts';
import { grant, head, RawUpstream } from '../support/raw-upstream.ts';
import { stars, tokenAndKey } from '../support/scrubbed.ts';

// An answer comes in parts, and the secrets change between them.

const token = (n: number) => `eyJhbGciOi-_${n}.q/Z+7xV=&${n}>wPqbH2mT0s`;

async function slowAnswer(t: Lifetime) {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = (login) => grant(token(login));
  upstream.onHead = () => head('200 OK', 'transfer-encoding: chunked');
  const proxy = await gatewayFor(t, {
    baseUrl: upstream.url,
    yaml: tokenAndKey('the-first-key-of-three'),
    env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' },
  });
  const client = await proxy.client();
  t.teardown(() => client.close());
  client.send(request('GET', '/slow'));
  await until(() => upstream.requests.length === 1, 'no request');
  const { connection } = upstream.last;
  const says = (text: string) => connection.send(`${text.length.toString(16)}\r\n${text}\r\n`);
  /** What came of the body, without the frames of its chunks. */
  const body = () =>
    client.received.slice(client.received.indexOf('\r\n\r\n') + 4).replace(/[0-9a-f]+\r\n(.*?)\r\n/gs, '$1');
  return {
    says,
    comes: (text: string) => until(() => body() === text, `not ${text}, but ${client.received}`),
    renew: () => ask(proxy.adminPort, request('POST', '/renew', 'content-length: 0')),
    reload: async (key: string) =>
      proxy.gateway.reconfigure(await configOf({ baseUrl: upstream.url, yaml: tokenAndKey(key) })),
  };
}

t.test(
  'the rest of a slow echo is masked, whatever renewals and reloads come between its parts',
  async (t) => {
    const { says, comes, renew, reload } = await slowAnswer(t);
    const [first, second, third, fourth] = [0, 9, 18, 26].map((at, i, ends) =>
      token(1).slice(at, ends[i + 1]),
    );
    says(`data: ${first}`);
    await comes(`data: ${first}`);
    t.equal((await renew()).status, 200);
    says(second!);
    await comes(`data: ${first}${second}`);
    await reload('the-second-key-of-three');
    says(third!);
    await comes(`data: ${first}${second}${third}`);
    t.equal((await renew()).status, 200);
    await reload('the-third-key-of-three');
    says(`${fourth}! ${token(2)} ${token(3)} the-first-key-of-three the-third-key-of-three\n`);
    await comes(
      `data: ${first}${second}${third}${stars(fourth!)}! ${stars(token(2))} ${stars(token(3))} ${stars('the-first-key-of-three')} ${stars('the-third-key-of-three')}\n`,
    );
  },
);
