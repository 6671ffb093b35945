import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { Http2Upstream } from '../support/h2-upstream.ts';
import { RawClient } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// Requests of bearerd's own name bearerd (test/login/login-request.test.ts). A client's request keeps the client's header.

const OWN = 'User-Agent: own/1.0';
const UPGRADE = ['connection: Upgrade', 'upgrade: websocket'];

t.test('a request has the User-Agent that the client sent, or none, over HTTP/1.1', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url });
  await ask(request('GET', '/'));
  t.same(upstream.last.all('user-agent'), []);
  await ask(request('GET', '/', OWN));
  t.same(upstream.last.all('user-agent'), ['own/1.0']);
});

t.test('a request has the User-Agent that the client sent, or none, over HTTP/2', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  await ask(request('GET', '/'));
  t.same(upstream.last.all('user-agent'), []);
  await ask(request('GET', '/', OWN));
  t.same(upstream.last.all('user-agent'), ['own/1.0']);
});

t.test('a request has the User-Agent that the client sent, or none, for an upgrade', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = () => head('101 Switching Protocols', ...UPGRADE);
  const { port } = await gatewayFor(t, { baseUrl: upstream.url });
  for (const [lines, sent] of [
    [[], []],
    [[OWN], ['own/1.0']],
  ]) {
    const client = await RawClient.to(port);
    client.send(request('GET', '/', ...UPGRADE, ...lines!));
    t.equal((await client.response()).status, 101);
    t.same(upstream.last.all('user-agent'), sent);
    client.close();
  }
});
