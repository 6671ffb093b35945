import t from 'tap';
import { Secret } from '../../../src/base/secret.ts';
import { AccountKeys } from '../../../src/integrations/fleet/keys.ts';

// How values are sealed, and what a name reveals.

const IDENTITY = '["session","https://api.example.com/session","service-account","sa-1"]';
const keysOf = (secrets: readonly string[], identity = IDENTITY) =>
  new AccountKeys(
    { identity: new Secret(identity), secrets: secrets.map((secret) => new Secret(secret)) },
    'bearerd',
  );

const keys = keysOf(['s3cret']);
const { token: at, hold } = keys.names;

t.test('an instance with the secret can open what another has sealed', async (t) => {
  const sealed = keys.seal(at, 7, { token: 'tok' });
  t.match(sealed, /^7\.[\w-]+$/);
  t.notMatch(sealed, /tok/);
  t.same(keysOf(['s3cret']).open(at, sealed), { generation: 7, value: { token: 'tok' } });
  t.not(keys.seal(at, 7, { token: 'tok' }), sealed, 'each sealing differs');
});

t.test("an instance without the secret can't open it, and a changed bit is refused", async (t) => {
  const sealed = keys.seal(at, 7, { token: 'tok' });
  const strangers = [
    keysOf(['s3cres']),
    keysOf(['s3cret', 'k']),
    keysOf(['s3', 'cret']),
    keysOf(['s3cret'], IDENTITY.replace('sa-1', 'sa-2')),
  ];
  for (const stranger of strangers) t.equal(stranger.open(at, sealed), undefined);
  t.equal(keys.open(at, sealed.replace('7.', '8.')), undefined, 'with a later generation');
  t.equal(keys.open(at, sealed.replace('7.', '07.')), undefined, 'with another spelling of the generation');
  t.equal(keys.open(hold, sealed), undefined, 'elsewhere');
  const body = Buffer.from(sealed.slice(2), 'base64url');
  for (let bit = 0; bit < body.length * 8; bit++) {
    const changed = Buffer.from(body);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    if (keys.open(at, `7.${changed.toString('base64url')}`) !== undefined) t.fail(`bit ${bit}`);
  }
  for (const text of [
    '',
    '7.',
    '7',
    '.AAAA',
    '7.AAAA',
    `7.${body.subarray(0, 27).toString('base64url')}`,
    'x'.repeat(1e5),
  ])
    t.equal(keys.open(at, text), undefined, text.slice(0, 40));
});

t.test('names and marks reveal neither account nor secret, and are the same in all instances', async (t) => {
  t.same(keysOf(['s3cret']).names, keys.names);
  t.match(at, /^bearerd:\{[0-9a-f]{32}\}:token$/);
  t.equal(new Set([at, ...['a', 'b'].map((secret) => keysOf([secret]).names.token)]).size, 3);
  const mark = keys.markOf(new Secret('tok'));
  t.equal(keysOf(['s3cret']).markOf(new Secret('tok')), mark);
  t.not(keysOf(['other']).markOf(new Secret('tok')), mark);
  t.match(mark, /^[\w-]{22}$/);
});
