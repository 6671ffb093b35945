import t from 'tap';
import { otherNames } from '../../../src/base/failures/certificate-names.ts';

const error = (subjectaltname: unknown, code = 'ERR_TLS_CERT_ALTNAME_INVALID') =>
  Object.assign(new Error('no match'), { code, cert: { subjectaltname } });

t.test('a certificate for another name says which names it has', async (t) => {
  t.equal(otherNames(error('DNS:a.example, DNS:*.b.example')), ', it names a.example, *.b.example');
  t.equal(otherNames(error('IP Address:10.0.0.1, IP Address:::1')), ', it names 10.0.0.1, ::1');
  const many = Array.from({ length: 9 }, (_, n) => `DNS:${n}.example`).join(', ');
  t.match(otherNames(error(many)), / 3\.example and 5 more$/);
});

t.test('what is no name is left out, and other failures name none', async (t) => {
  t.equal(otherNames(error('DNS:\x1b[2J, URI:https://x, DNS:a b, email:a@b')), '');
  for (const other of [error('DNS:a', 'CERT_HAS_EXPIRED'), error(undefined), undefined, null, 'x'])
    t.equal(otherNames(other), '');
});
