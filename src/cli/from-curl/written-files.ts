import { dirname, join, relative, resolve } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import type { FoundCredential } from './credential-entry.ts';
import { type CurlLine, optionValue } from './curl-line.ts';
import { REFUSED } from './curl-options.ts';
import type { CurlRequest } from './curl-request.ts';
import { type Given, plainText } from './given-value.ts';

/** The files of a configuration, before they are written. */
export interface WrittenFiles {
  readonly yaml: string;
  /** The secrets' files beside it, with what stands in them. */
  readonly secrets: readonly { readonly path: string; readonly text: string }[];
}

const SECRET_FILE = 'bearerd-secret';

/**
 * The configuration that does what the line does. Pure.
 *
 * @param output path of the configuration file; its relative paths begin at its folder
 * @throws UsageError
 */
export function filesOf(
  line: CurlLine,
  { origin }: CurlRequest,
  found: FoundCredential,
  output: string,
): WrittenFiles {
  const texts = secretTexts(found.fields);
  const fileOf = (field: string) => (texts.length === 1 ? SECRET_FILE : `${SECRET_FILE}-${field}`);
  const { name, sessionPath } = found;
  const credentials =
    name === undefined ? '' : `\ncredentials:\n  ${name}:\n${credential(found.fields, fileOf).join('')}`;
  const session = sessionPath === undefined ? '' : `\nsession:\n  path: ${scalar(sessionPath)}\n`;
  return {
    yaml: `# The configuration of bearerd, made by "bearerd init --from-curl". No secret stands here.
baseUrl: ${scalar(origin)}
${credentials}${session}${tls(line, output)}
# Which requests get which credential. The longest prefix wins, whatever the order.
routes:
  - { prefix: /, credential: ${name ?? 'none'} }
`,
    secrets: texts.map(({ field, text }) => ({
      path: join(dirname(output), fileOf(field)),
      // A secret file loses one line end when it is read.
      text: text.endsWith('\n') ? `${text}\n` : text,
    })),
  };
}

interface SecretText {
  readonly field: string;
  readonly text: string;
}

function secretTexts(fields: FoundCredential['fields']): readonly SecretText[] {
  return Object.entries(fields).flatMap(([field, entry]) => {
    if (typeof entry === 'string') return [];
    if ('map' in entry) return secretTexts(entry.map);
    return 'text' in entry.secret ? [{ field, text: entry.secret.text }] : [];
  });
}

function credential(fields: FoundCredential['fields'], fileOf: (field: string) => string): string[] {
  const { key, ...rest } = fields;
  // A command gives a key anew when it has ended: that is a credential of its own type.
  if (typeof key === 'object' && 'secret' in key && 'command' in key.secret) {
    const { type: _, ...placed } = rest;
    const command = key.secret.command.split(/\s+/).map(scalar).join(', ');
    return ['    type: exec\n', `    command: [${command}]\n`, ...lines(placed, fileOf)];
  }
  return lines(fields, fileOf);
}

function lines(
  fields: FoundCredential['fields'],
  fileOf: (field: string) => string,
  indent = '    ',
): string[] {
  return Object.entries(fields).map(([field, entry]) => {
    const name = `${indent}${scalar(field)}:`;
    if (typeof entry === 'string') return `${name} ${scalar(entry)}\n`;
    if ('map' in entry) return `${name}\n${lines(entry.map, fileOf, `${indent}  `).join('')}`;
    return `${name} ${secretEntry(field, entry.secret, fileOf)}\n`;
  });
}

function secretEntry(field: string, given: Given, fileOf: (field: string) => string): string {
  if ('text' in given) return `{ file: ${fileOf(field)} }`;
  if ('variable' in given) return `{ env: ${given.variable} }`;
  throw new UsageError(`${field}: "$(…)" is taken for a key alone; write the value, or a variable as $NAME`);
}

/** As YAML's core schema reads it back: in quotes, unless it is text in any case. */
function scalar(text: string): string {
  const isPlain =
    /^[A-Za-z/][\w./:@+-]*$/.test(text) && !/:$|^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

function tls(line: CurlLine, output: string): string {
  const path = (name: string) => {
    const value = optionValue(line.options, name);
    if (value === undefined) return undefined;
    const file = name === 'cert' ? certificateFile(value) : value;
    if (file.startsWith('~/'))
      throw new UsageError(`--${name}: a shell replaces no "~" there, nor does curl: write the whole path`);
    return relativePath(plainText(file, line, `--${name}`), output);
  };
  const type = optionValue(line.options, 'cert-type') ?? optionValue(line.options, 'key-type') ?? 'PEM';
  if (type.toUpperCase() !== 'PEM')
    throw new UsageError(`a certificate and its key have to be PEM files, and not ${type.slice(0, 10)}`);
  const certFile = path('cert');
  const files = { caFile: path('cacert'), certFile, keyFile: path('key') ?? certFile };
  if (certFile === undefined && files.keyFile !== undefined)
    throw new UsageError('--key is given without --cert: give the certificate, too');
  const given = Object.entries(files).filter((file): file is [string, string] => file[1] !== undefined);
  if (given.length === 0) return '';
  return `\ntls:\n${given.map(([key, file]) => `  ${key}: ${scalar(file)}\n`).join('')}`;
}

const DRIVE = process.platform === 'win32' ? /^[A-Za-z]:(?=[/\\])/ : /^/;

/** The file of curl's `CERTIFICATE[:PASSWORD]`, where `\:` and `\\` are a colon and a backslash of its name. */
function certificateFile(value: string): string {
  if (/^pkcs11:/i.test(value)) throw new UsageError(`--cert: ${REFUSED.engine}`);
  const [drive] = DRIVE.exec(value) ?? [''];
  const [name = ''] = /^(?:\\[\s\S]|[^:\\]|\\$)*/.exec(value.slice(drive.length)) ?? [];
  // Nothing behind the colon is no passphrase.
  if (value.length > drive.length + name.length + 1) throw new UsageError(`--cert: ${REFUSED.pass}`);
  return drive + name.replaceAll(/\\([:\\])/g, '$1');
}

function relativePath(path: string, output: string): string {
  return relative(resolve(dirname(output)), resolve(path)) || '.';
}
