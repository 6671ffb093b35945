import { homedir } from 'node:os';
import t from 'tap';
import { readShellLine } from '../../../src/cli/from-curl/shell-line.ts';

// The quoting of a POSIX shell, and what a pasted line may not hold.

const READ: readonly (readonly [line: string, words: readonly unknown[], behind?: string])[] = [
  ['curl a b', ['curl', 'a', 'b']],
  ['  curl\ta  ', ['curl', 'a']],
  ['\uFEFFcurl a', ['curl', 'a']],
  ['curl \'a b\'"c d"e', ['curl', 'a bc de']],
  ['curl \'\' ""', ['curl', '', '']],
  ["curl 'it'\\''s'", ['curl', "it's"]],
  ['curl "a\\"b\\\\c\\$d\\n"', ['curl', 'a"b\\c$d\\n']],
  ['curl \\\n  a \\\r\n  b', ['curl', 'a', 'b']],
  ['curl "a\\\nb"', ['curl', 'ab']],
  ['curl a\\ b \\$X', ['curl', 'a b', '$X']],
  ["curl $'a\\tb\\n\\x41\\u00e9\\U0001F600\\101\\'\\\\'", ['curl', "a\tb\nAé😀A'\\"]],
  ["curl $'\\xc3\\xa9'", ['curl', 'é']],
  ['curl \'$X\' "5$" $', ['curl', '$X', '5$', '$']],
  ['curl $X', ['curl', [{ variable: 'X' }]]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell reads
  ['curl "Bearer ${A_1}"x', ['curl', ['Bearer ', { variable: 'A_1' }, 'x']]],
  [
    'curl "Bearer $(gcloud auth print-access-token)"',
    ['curl', ['Bearer ', { command: 'gcloud auth print-access-token' }]],
  ],
  ['curl ~/a -d @~/a --cacert=~/a', ['curl', `${homedir()}/a`, '-d', '@~/a', '--cacert=~/a']],
  ['curl ~ a~/b', ['curl', homedir(), 'a~/b']],
  [
    'curl \'~/a\' "~/a" \\~/a ~"/a" ~\\/a ~$X',
    ['curl', '~/a', '~/a', '~/a', '~/a', '~/a', ['~', { variable: 'X' }]],
  ],
  ['curl ~/"$X"', ['curl', [`${homedir()}/`, { variable: 'X' }]]],
  ['curl a # a comment', ['curl', 'a']],
  ['# a comment\ncurl a', ['curl', 'a']],
  ['curl a#b', ['curl', 'a#b']],
  ['curl a | jq .', ['curl', 'a'], '| jq .'],
  ['curl a > b', ['curl', 'a'], '> b'],
  ['curl a 2>/dev/null', ['curl', 'a'], '2>/dev/null'],
  ['curl a 2>&1 | jq', ['curl', 'a'], '2>&1 | jq'],
  ['curl a2>b', ['curl', 'a2'], '>b'],
  ['curl 2 > b', ['curl', '2'], '> b'],
  ['curl a; rm b', ['curl', 'a'], '; rm b'],
  ['curl a\nls', ['curl', 'a'], 'ls'],
  ['curl 范', ['curl', '范']],
  ['', []],
];

t.test('words are read as a POSIX shell reads them', async (t) => {
  for (const [line, words, behind = ''] of READ) {
    const read = readShellLine(line);
    const plain = read.words.map((word) =>
      word.every((piece) => typeof piece === 'string') ? word.join('') : word,
    );
    t.same(plain, words, line);
    t.equal(read.behind, behind, line);
  }
});

const REFUSED: readonly (readonly [line: string, says: RegExp])[] = [
  ["curl 'a", /quote \('\) is not closed/],
  ['curl "a', /quote \("\) is not closed/],
  ["curl $'a", /quote \(\$'\) is not closed/],
  ['curl a\\', /ends with a backslash/],
  ['curl http://h/?a=1&b=2', /"&" outside of quotes/],
  ['curl -H X:<token>', /"<" outside of quotes/],
  ['curl a 0<b', /"<" outside of quotes/],
  ['curl `id`', /backquote/],
  ['curl "`id`"', /backquote/],
  ['curl $(id; ls)', /\$\(…\)/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell reads
  ['curl ${X:-secret}', /holds more than a name/],
  ['curl $1', /"\$1" is a shell's own variable/],
  ['curl -T ~ada/a', /"~" with a name/],
  ['curl ~+/a', /"~" with a name/],
  ['curl ^\n -H a', /for Windows/],
  ['curl “a”', /typographic quotes/],
  ['curl\u00a0a', /blanks of a web page/],
  ["curl $'\\U00110000'", /names no character/],
];

t.test('a line that is more than one command is refused, and the message quotes no value', async (t) => {
  for (const [line, says] of REFUSED) {
    t.throws(() => readShellLine(line), { code: 'usage', message: says }, line);
    try {
      readShellLine(line);
    } catch (error) {
      t.notMatch((error as Error).message, /secret|token/, line);
    }
  }
});

t.test('a long line of any kind is read in linear time', async (t) => {
  for (const piece of ['a', "'a'", '"a"', "$'a'", '\\a', ' a', '$ ', '"$X"', '\\\n', '1'])
    t.doesNotThrow(() => readShellLine(`curl ${piece.repeat(100_000)}`), piece);
});
