import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import t from 'tap';
import { Secret } from '../../src/base/secret.ts';

const CONTENT = 'p&ss "wörd"';
const secret = new Secret(CONTENT);

t.test('a secret prints only asterisks, and so does every secret made from it', async (t) => {
  const made = [
    secret,
    Secret.json({ token: secret }),
    Secret.form([['password', secret]]),
    Secret.joined([secret, secret], ':'),
    secret.asBytes(),
    secret.base64(),
    secret.formEncoded(),
  ];
  for (const each of made) {
    t.equal(`${each}`, '***');
    t.equal(JSON.stringify({ each }), '{"each":"***"}');
    t.equal(inspect(each), '***');
  }
});

t.test('a secret that is made from others holds their content in the right encoding', async (t) => {
  const json = Secret.json({
    a: secret,
    b: [secret, 'plain', null],
    c: { d: 1, e: new Date(0), f: undefined },
  });
  t.equal(
    json.expose(),
    JSON.stringify({ a: CONTENT, b: [CONTENT, 'plain', null], c: { d: 1, e: new Date(0) } }),
  );
  t.equal(
    Secret.form([
      ['user', 'x y'],
      ['password', secret],
    ]).expose(),
    'user=x+y&password=p%26ss+%22w%C3%B6rd%22',
  );
  t.equal(Secret.joined([new Secret('a'), new Secret('b')], ':').expose(), 'a:b');
  t.equal(Secret.joined(['Bearer', new Secret('a')], ' ').expose(), 'Bearer a');
  t.equal(secret.asBytes().expose(), 'p&ss "w\u00c3\u00b6rd"');
  t.equal(secret.base64().expose(), Buffer.from(CONTENT).toString('base64'));
  t.equal(secret.formEncoded().expose(), 'p%26ss+%22w%C3%B6rd%22');
});

t.test('a secret is added to a digest in UTF-8', async (t) => {
  const hash = createHash('sha256');
  secret.addTo(hash);
  t.equal(hash.digest('hex'), createHash('sha256').update(CONTENT, 'utf8').digest('hex'));
});
