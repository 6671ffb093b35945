/** A second implementation: one regular expression for each encoding, tried at each position. Slow, but easy to check. */
export function reference(values: readonly string[], text: string): string {
  const patterns = values.flatMap((value) => [
    escaped(value),
    hex(value),
    ...[0, 1, 2].map((n) => base64(value, n)),
  ]);
  const struck = [...text];
  for (const pattern of patterns) {
    for (let at = 0; at < text.length; at++) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) break;
      struck.fill('*', match.index, match.index + match[0].length);
      at = match.index;
    }
  }
  return struck.join('');
}

const NAMES: Readonly<Record<string, string>> = {
  '"': 'quot|QUOT',
  '&': 'amp|AMP',
  '<': 'lt|LT',
  '>': 'gt|GT',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
  '%': 'percnt',
};

const quote = (text: string) =>
  text.replace(/[^A-Za-z0-9]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
const anyCase = (digits: string) => digits.replace(/[a-f]/g, (c) => `[${c}${c.toUpperCase()}]`);

/** A line break of quoted-printable may come between any two characters. */
const SOFT = '(?:=\\r?\\n)*';

/** Each character in any spelling, longer ones tried first. For ASCII without control characters. */
function escaped(value: string): RegExp {
  return new RegExp([...value].map(spelled).join(SOFT), 'g');
}

/** A reference may lack its `;`; if it has one, all digits before it count. */
function spelled(c: string): string {
  const code = c.charCodeAt(0);
  const two = code.toString(16).padStart(2, '0');
  return (
    `(?:[%=]${anyCase(two)}|\\\\u00${anyCase(two)}|\\\\x${anyCase(two)}` +
    `|&#0*${code}(?:;|(?![0-9]*;))|&#[xX]0*${anyCase(two.replace(/^0/, ''))}(?:;|(?![0-9A-Fa-f]*;))` +
    `${NAMES[c] === undefined ? '' : `|&(?:${NAMES[c]})(?:;|(?!;))`}` +
    `${/[A-Za-z0-9]/.test(c) ? '' : `|\\\\${quote(c)}`}${c === ' ' ? '|\\+' : ''}|${quote(c)})`
  );
}

/** Hexadecimal pairs, with the separators of a dump between them. */
function hex(value: string): RegExp {
  const pairs = Buffer.from(value, 'latin1').toString('hex').match(/../g) ?? [];
  return new RegExp(pairs.map(anyCase).join('[-: \\t\\r\\n]*'), 'g');
}

/** A line break within base64, with an indent or without, or escaped. */
const BROKEN = '(?:(?:[\\r\\n]|\\\\[rn]|%0[AaDd]|=\\r?\\n)[ \\t]*)*';

/** The base64 of the value whatever bytes surround it, found by trying all of them. */
function base64(value: string, before: number): RegExp {
  const columns: Set<string>[] = [];
  for (let around = 0; around < 256; around++) {
    const whole = Buffer.concat([
      Buffer.alloc(before, around),
      Buffer.from(value, 'latin1'),
      Buffer.alloc(2, around),
    ]);
    const text = whole.toString('base64');
    const from = Math.floor((before * 8) / 6);
    const to = Math.ceil(((before + value.length) * 8) / 6);
    for (let at = from; at < to; at++) {
      columns[at - from] ??= new Set();
      columns[at - from]!.add(text[at]!);
    }
  }
  const forms = (c: string) => {
    if (c === '+') return ['-', 'p'];
    if (c === '/') return ['_', 's'];
    return [c];
  };
  const sources: Readonly<Record<string, string>> = { p: escaped('+').source, s: escaped('/').source };
  const each = columns.map((column) => {
    const alternatives = [...column].flatMap((c) =>
      /[+/]/.test(c) ? forms(c).map((f) => sources[f] ?? f) : [c],
    );
    return `(?:${alternatives.join('|')})`;
  });
  return new RegExp(each.join(BROKEN), 'g');
}
