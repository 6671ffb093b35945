import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Chance } from '../fuzz/chance.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { type Http2Request, Http2Upstream } from '../support/h2-upstream.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { grant, head, RawUpstream, type UpstreamConnection } from '../support/raw-upstream.ts';
import { share } from '../support/share.ts';

// A caller whose own text is echoed tries to guess a credential from how the answer is cut, and from what comes before
// a pause. For a longer run: PROBES=100000 npx node test/app/scrub-oracle.test.ts

const PROBES = Number(process.env.PROBES ?? share(1_200));
/** Wrong guesses for each character, beside the right one. */
const WRONG = 3;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.q-_7Zk3xVwqPbH2mT0sJd9Yc4RfLkWvE';
const SECRETS = {
  'a token': TOKEN,
  'a key in a header': 'sk-live-4f9Qm2XcV7bN1zLpT6wKd3Rj',
  'a key in the query': 'qk-live-8hYt5RfEw2QaZxSd9CvBn4Mk',
  'a password of Basic': 'Vw7kQp2Zr9XbNc4Tm6Ld',
  'a token in base64': Buffer.from(TOKEN).toString('base64'),
  'a key in hexadecimal': Buffer.from('sk-live-4f9Qm2XcV7bN1zLpT6wKd3Rj').toString('hex'),
};
const YAML = `
scrub: true
callerKey: caller-key-of-a-run
credentials:
  header: { type: apiKey, key: ${SECRETS['a key in a header']}, header: X-Api-Key }
  query: { type: apiKey, key: ${SECRETS['a key in the query']}, in: query, name: api_key }
  login: { type: basic, username: ada, password: ${SECRETS['a password of Basic']} }
routes:
  - { prefix: /, credential: token }
  - { prefix: /header, credential: header }
  - { prefix: /query, credential: query }
  - { prefix: /login, credential: login }
`;
const CALLER = 'X-Bearerd-Key: caller-key-of-a-run';

/** The visible shape of an answer that echoes a guess: of the guess only its length. */
type Observe = (guess: string) => Promise<string>;

/** The number of characters that can be told from wrong ones, repeatedly, by the shape of the answer. */
async function learned(observe: Observe, secret: string, probes: number, chance: Chance): Promise<number> {
  const tries = Math.ceil(probes / (1 + WRONG));
  let found = 0;
  for (let n = 0; n < tries; n++) {
    // A guess of the whole credential shows by its asterisks, so the last characters are left out; so is the padding of base64.
    const at = Math.floor((n * (secret.length - 4)) / tries);
    const told = async () => {
      const seen = await observe(secret.slice(0, at + 1));
      for (let i = 0; i < WRONG; i++) {
        const wrong = chance.pick([...ALPHABET].filter((c) => c !== secret[at]));
        if ((await observe(secret.slice(0, at) + wrong)) === seen) return false;
      }
      return true;
    };
    // If the machine pauses, held bytes are released by the timer: so it must repeat three times.
    if ((await told()) && (await told()) && (await told())) found++;
  }
  return found;
}

async function attack(t: Test, observe: Observe): Promise<void> {
  const chance = new Chance(1);
  const each = PROBES / Object.keys(SECRETS).length / 3;
  for (const [name, secret] of Object.entries(SECRETS))
    t.equal(await learned(observe, secret, each, chance), 0, name);
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const guessIn = (target: string) => new URL(target, 'http://localhost').searchParams.get('q') ?? '';
const ask = (guess: string) => request('GET', `/?q=${encodeURIComponent(guess)}`, CALLER);
/** The bytes that came, with the guess replaced by dots. */
const shape = (text: string, guess: string) => text.replace(`q=${guess}`, `q=${'.'.repeat(guess.length)}`);

t.test('the sizes of chunks reveal nothing of a credential', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = () => grant(TOKEN);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: YAML });
  const client = await RawClient.to(proxy.port);
  let paused: UpstreamConnection | undefined;
  upstream.onHead = ({ target, connection }) => {
    paused = connection;
    return head('200 OK', 'transfer-encoding: chunked') + chunk(`begin\nq=${guessIn(target)}`);
  };
  await attack(t, async (guess) => {
    client.received = '';
    const answered = client.send(ask(guess)).response();
    await until(() => client.received.includes('begin\n'), 'no beginning');
    paused?.send(`${chunk('&rest\n')}0\r\n\r\n`);
    await answered;
    return shape(client.received, guess);
  });
  client.close();
});

t.test('the bytes before a pause reveal nothing of a credential, with a known length either', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = () => grant(TOKEN);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: YAML });
  const client = await RawClient.to(proxy.port);
  let paused: UpstreamConnection | undefined;
  upstream.onHead = ({ target, connection }) => {
    const begun = `begin\nq=${guessIn(target)}`;
    paused = connection;
    return `${head('200 OK', `content-length: ${begun.length + 1}`)}${begun}`;
  };
  await attack(t, async (guess) => {
    client.received = '';
    const answered = client.send(ask(guess)).response();
    await until(() => client.received.includes('begin\n'), 'no beginning');
    await turn();
    const seen = client.received;
    paused?.send('\n');
    await answered;
    return shape(seen, guess);
  });
  client.close();
});

t.test('the frames of an HTTP/2 upstream reveal nothing of a credential', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  let paused: Http2Request['stream'] | undefined;
  upstream.onRequest = ({ stream, target }) => {
    paused = stream;
    stream.respond({ ':status': 200, date: 'always the same' });
    stream.write(`begin\nq=${guessIn(target)}`);
  };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: YAML, env: upstream.env });
  const client = await RawClient.to(proxy.port);
  await attack(t, async (guess) => {
    client.received = '';
    const answered = client.send(ask(guess)).response();
    await until(() => client.received.includes('begin\n'), 'no beginning');
    paused?.end('&rest\n');
    await answered;
    return shape(client.received, guess);
  });
  client.close();
});
