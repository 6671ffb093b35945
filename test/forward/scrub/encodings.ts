const html = (text: string, of: (c: string) => string) => text.replace(/["&'<>/+=%]/g, of);
const code = (c: string, base: number) => c.charCodeAt(0).toString(base);
const all = (text: string, of: (c: string) => string) => [...text].map(of).join('');
const within = (text: string, before: string, encoding: 'base64' | 'base64url') =>
  Buffer.from(`${before}${text}tail`, 'latin1').toString(encoding);

const lines = (text: string, width: number, end: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(end);
const pairs = (text: string, between: string) =>
  (Buffer.from(text, 'latin1').toString('hex').match(/../g) ?? []).join(between);
const quotedPrintable = (text: string) =>
  all(text, (c) => (/[ -<>-~]/.test(c) ? c : `=${code(c, 16).toUpperCase().padStart(2, '0')}`));

/** How programs encode an ASCII value. Each result holds only the value, or the base64 of a text around it. */
export const ENCODINGS: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (value) => value,
  'percent, reserved ones': (value) => encodeURIComponent(value),
  'percent, lower case': (value) => encodeURIComponent(value).replace(/%../g, (hex) => hex.toLowerCase()),
  'percent, all': (value) => all(value, (c) => `%${code(c, 16).padStart(2, '0').toUpperCase()}`),
  'percent, every other': (value) =>
    [...value].map((c, i) => (i % 2 === 0 ? c : `%${code(c, 16).padStart(2, '0')}`)).join(''),
  form: (value) => new URLSearchParams({ v: value }).toString().slice(2),
  'JSON string': (value) => JSON.stringify(value).slice(1, -1),
  'JSON string with \\/': (value) => JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
  'JSON, all escaped': (value) => all(value, (c) => `\\u${code(c, 16).padStart(4, '0')}`),
  'JSON, all escaped in upper case': (value) =>
    all(value, (c) => `\\u${code(c, 16).padStart(4, '0').toUpperCase()}`),
  'JSON for HTML': (value) =>
    JSON.stringify(value)
      .slice(1, -1)
      .replace(/[&<>+'/=]/g, (c) => `\\u${code(c, 16).padStart(4, '0')}`),
  'HTML, decimal': (value) => html(value, (c) => `&#${code(c, 10)};`),
  'HTML, decimal with a zero': (value) => html(value, (c) => `&#0${code(c, 10)};`),
  'HTML, hex': (value) => html(value, (c) => `&#x${code(c, 16)};`),
  'HTML, hex in upper case': (value) => all(value, (c) => `&#X${code(c, 16).toUpperCase()};`),
  'HTML, named': (value) =>
    html(value, (c) => ({ '"': '&quot;', '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&apos;' })[c] ?? c),
  hex: (value) => Buffer.from(value, 'latin1').toString('hex'),
  'hex in upper case': (value) => Buffer.from(value, 'latin1').toString('hex').toUpperCase(),
  base64: (value) => Buffer.from(value, 'latin1').toString('base64'),
  base64url: (value) => Buffer.from(value, 'latin1').toString('base64url'),
  'base64, second place': (value) => within(value, 'x', 'base64'),
  'base64url, second place': (value) => within(value, 'Bearer ', 'base64url'),
  'base64, third place': (value) => within(value, 'user:', 'base64'),
  'base64url, third place': (value) => within(value, 'u:', 'base64url'),
  'base64 in JSON': (value) => within(value, 'user:', 'base64').replaceAll('/', '\\/'),
  'base64 in HTML': (value) => html(within(value, 'user:', 'base64'), (c) => `&#${code(c, 10)};`),
  'base64 in a query': (value) => encodeURIComponent(within(value, 'user:', 'base64')),
  'base64, lines of 60': (value) => lines(within(value, 'user:', 'base64'), 60, '\n'),
  'base64, lines of 64': (value) => lines(within(value, 'user:', 'base64'), 64, '\r\n'),
  'base64, lines of 76': (value) => lines(within(value, 'user:', 'base64'), 76, '\r\n'),
  'base64, lines of 76 in JSON': (value) => lines(within(value, 'user:', 'base64'), 76, '\\n'),
  'base64, indented lines': (value) => lines(within(value, 'user:', 'base64'), 60, '\n    '),
  'hex with colons': (value) => pairs(value, ':'),
  'hex with blanks': (value) => pairs(value, ' '),
  'hex with dashes': (value) => pairs(value, '-').toUpperCase(),
  '\\xNN': (value) => all(value, (c) => `\\x${code(c, 16).padStart(2, '0')}`),
  'HTML, many zeros': (value) => all(value, (c) => `&#${code(c, 10).padStart(7, '0')};`),
  'HTML, without semicolon': (value) => all(value, (c) => `&#${code(c, 10)}`),
  'HTML, hex without semicolon': (value) => all(value, (c) => `&#x${code(c, 16).padStart(6, '0')}`),
  'quoted-printable': (value) => quotedPrintable(value),
  'quoted-printable, all': (value) => all(value, (c) => `=${code(c, 16).toUpperCase().padStart(2, '0')}`),
  'quoted-printable, in lines': (value) =>
    (quotedPrintable(value).match(/(?:=..|.){1,20}/g) ?? []).join('=\r\n'),
};
