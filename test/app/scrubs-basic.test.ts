import t from 'tap';
import { gatewayFor } from '../support/gateway.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';
import { stars } from '../support/scrubbed.ts';

// The user name of Basic may be the key.

const KEY = 'sk_live_51HqLyjWDarjtT1zdp7dc';

t.test(
  'with scrub the user name of Basic is masked if it is the key, and passes if a password is',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    upstream.onRequest = (got) => {
      const pair = Buffer.from(got.header('authorization')!.slice('Basic '.length), 'base64').toString();
      return ok(`${pair.slice(0, pair.indexOf(':'))} ${got.header('authorization')}`);
    };
    const { get } = await gatewayFor(t, {
      baseUrl: upstream.url,
      yaml: `
scrub: true
credentials:
  key: { type: basic, username: ${KEY}, password: '' }
  word: { type: basic, username: ${KEY}2, password: api_token }
  person: { type: basic, username: ada-of-the-second-floor@example.com, password: a-password-of-a-person }
routes:
  - { prefix: /key, credential: key }
  - { prefix: /word, credential: word }
  - { prefix: /person, credential: person }
`,
    });
    const pair = (text: string) => `Basic ${stars(Buffer.from(text).toString('base64'))}`;
    t.equal((await get('/key')).text, `${stars(KEY)} ${pair(`${KEY}:`)}`);
    t.equal((await get('/word')).text, `${stars(`${KEY}2`)} ${pair(`${KEY}2:api_token`)}`);
    const name = 'ada-of-the-second-floor@example.com';
    t.equal((await get('/person')).text, `${name} ${pair(`${name}:a-password-of-a-person`)}`);
  },
);
