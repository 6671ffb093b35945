import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// Each link in the documents leads to an existing file and heading, and so does each page named in code and messages.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => statSync(join(ROOT, name)).isFile());
const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'config', 'deploy'].flatMap(filesIn).filter((name) => name.endsWith('.md')),
];

const withoutCode = (text: string) =>
  text
    .replaceAll(/^( *)```.*?^\1```/gms, '')
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));

/** The anchor of a heading, as code hosts make it. */
function slug(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

const anchors = new Map<string, ReadonlySet<string>>();
function anchorsOf(page: string): ReadonlySet<string> {
  const known = anchors.get(page);
  if (known !== undefined) return known;
  const found = new Set<string>();
  const text = read(page).replaceAll(/^( *)```.*?^\1```/gms, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = slug(heading);
    let name = plain;
    for (let again = 1; found.has(name); again++) name = `${plain}-${again}`;
    found.add(name);
  }
  for (const [, name = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(name);
  anchors.set(page, found);
  return found;
}

/** The fault of a link's target; undefined for a valid one. */
function brokenAt(page: string, target: string): string | undefined {
  const [path = '', anchor] = decodeURI(target).split('#');
  const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
  if (!existsSync(join(ROOT, file))) return `${target}: no such file`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(file).has(anchor) ? undefined : `${target}: no such heading`;
}

const linksOf = (page: string) =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

t.test('each link in the documents leads to an existing file and heading', async (t) => {
  t.ok(pages.flatMap(linksOf).length > 100);
  for (const page of pages) {
    const broken = linksOf(page).flatMap((target) => brokenAt(page, target) ?? []);
    t.same(broken, [], page);
  }
});

t.test('each page named in code, help and messages exists', async (t) => {
  const folders = ['src', 'scripts', 'bench', 'config', 'deploy', 'test'].flatMap(filesIn);
  const texts = [...folders, 'package.json', 'Dockerfile', 'docker-compose.yml', '.ci/run'];
  const named = texts.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w./-]*\.md(?:#[\w-]+)?/g)].map(([target]) => ({ file, target })),
  );
  t.not(named.length, 0);
  for (const { file, target } of named) t.equal(brokenAt('README.md', target), undefined, file);
});

const documents = pages.filter((page) => page.startsWith('docs/'));

t.test('each page of docs begins with the question that it answers', async (t) => {
  const areas = documents.filter((page) => /^docs\/decisions\/(?!README)/.test(page));
  for (const page of documents.filter((name) => !areas.includes(name)))
    t.match(read(page), /^# [^\n]+\n\nThis page answers: [^?]+\?/, page);
});

/** Reference pages: readers look things up in them. */
const REFERENCE = ['docs/answers.md', 'docs/configuration.md', 'docs/performance.md'];
const MOST_BYTES = 15 * 1024;
const MOST_LINES_TO_START = 50;

t.test('a page that is not for reference is short', async (t) => {
  const long = documents.filter((page) => Buffer.byteLength(read(page)) > MOST_BYTES);
  t.same(
    long.filter((page) => !REFERENCE.includes(page)),
    [],
  );
  for (const page of documents.filter((name) => name.startsWith('docs/start/')))
    t.ok(read(page).split('\n').length <= MOST_LINES_TO_START, page);
});

/** Tables, headings, pictures and markers are one line each; the figures of `docs/performance.md` are written by the bench. */
const MAY_BE_LONG = /^ *(?:\||#|!\[|<!--)/;
const LONGEST_LINE = 130;

t.test(`prose is wrapped at ${LONGEST_LINE} characters`, async (t) => {
  for (const page of pages.filter((name) => name !== 'docs/performance.md')) {
    const lines = read(page)
      .replaceAll(/^( *)```.*?^\1```/gms, (code) => code.replaceAll(/./g, ''))
      .split('\n');
    const long = lines.flatMap((line, i) =>
      line.length > LONGEST_LINE && !MAY_BE_LONG.test(line) ? [`line ${i + 1}`] : [],
    );
    t.same(long, [], page);
  }
});

t.test('a comment in the examples is indented as the line above or below it', async (t) => {
  const indentOf = (line = '') => line.search(/\S/);
  for (const name of readdirSync(join(ROOT, 'config')).filter((file) => file.endsWith('.yaml'))) {
    const lines = read(`config/${name}`).split('\n').filter(Boolean);
    const isComment = (line: string) => /^ *#/.test(line);
    const astray = lines.filter((line, i) => {
      const above = lines.slice(0, i).findLast((other) => !isComment(other));
      const below = lines.slice(i).find((other) => !isComment(other));
      return isComment(line) && ![indentOf(above), indentOf(below), 0].includes(indentOf(line));
    });
    t.same(astray, [], name);
  }
});

t.test('the index has at least a hundred different questions, each with a link to its answer', async (t) => {
  const lines = read('docs/index.md').match(/^- .*$/gm) ?? [];
  const questions = lines.map((line) => /^- \[(.+)\]\([^)]+\)$/.exec(line)?.[1]);
  t.ok(questions.length >= 100);
  t.notOk(questions.includes(undefined), 'each line is one link');
  t.equal(new Set(questions).size, questions.length);
});

t.test('the README links to each page of docs outside decisions/ and recipes/', async (t) => {
  const led = new Set(linksOf('README.md').map((target) => target.split('#')[0]));
  const inFolders = documents.filter((page) => /^docs\/(?:decisions|recipes)\//.test(page));
  t.same(
    documents.filter((page) => !inFolders.includes(page) && !led.has(page)),
    [],
  );
});
