import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { Secret } from '../../base/secret.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import { type Reading, sourceOf } from '../reading/reading.ts';
import { readTextFile } from '../reading/text-file.ts';

/** PEM texts, read when the configuration was, each with the path of its file. */
export interface TlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly ca?: string;
  /** It may stand with its key in one file. */
  readonly cert?: Secret;
  readonly key?: Secret;
}

/** The listener's certificate, where clients speak TLS. */
export interface ListenTls extends Required<Pick<TlsFiles, 'certFile' | 'keyFile' | 'cert' | 'key'>> {
  /** When the first certificate of the chain expires, in epoch milliseconds. */
  readonly validUntilMs: number;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a PEM text; none when one of them can't be parsed. */
function certificatesIn(pem: string): readonly X509Certificate[] {
  try {
    return (pem.match(CERTIFICATE) ?? []).map((block) => new X509Certificate(block));
  } catch {
    return [];
  }
}

function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // OpenSSL's reasons don't help, and its text may hold anything.
    return undefined;
  }
}

interface TlsFile {
  readonly path: string;
  readonly pem: string;
  readonly key: string;
}

type FileSetting = 'caFile' | 'certFile' | 'keyFile' | 'listenCertFile' | 'listenKeyFile';

function readPem(name: FileSetting, values: Values, reading: Reading): TlsFile | undefined {
  const path = values[name];
  if (path === undefined) return undefined;
  const { key, folder } = sourceOf(SETTINGS[name], reading);
  const file = readTextFile(path, folder, key, reading);
  return file && { path: file.path, pem: file.content, key };
}

/** A certificate and its key: both, or none. */
function readPair(
  certName: 'certFile' | 'listenCertFile',
  keyName: 'keyFile' | 'listenKeyFile',
  values: Values,
  reading: Reading,
): { readonly cert: TlsFile | undefined; readonly key: TlsFile | undefined } {
  const cert = readPem(certName, values, reading);
  const key = readPem(keyName, values, reading);
  for (const [missing, there] of [
    [keyName, certName],
    [certName, keyName],
  ] as const) {
    if (values[missing] !== undefined || values[there] === undefined) continue;
    reading.report(
      SETTINGS[missing].variable,
      `is missing; ${sourceOf(SETTINGS[there], reading).key} needs it`,
    );
  }
  checkPair(cert, key, reading);
  return { cert, key };
}

function checkPair(cert: TlsFile | undefined, key: TlsFile | undefined, reading: Reading): void {
  const certificate = cert && certificatesIn(cert.pem)[0];
  const privateKey = key && privateKeyIn(key.pem);
  if (cert && certificate === undefined) reading.report(cert.key, 'names a file without a PEM certificate');
  if (key && privateKey === undefined) {
    reading.report(key.key, 'names a file without a PEM private key that can be used without a passphrase');
  }
  if (!certificate || !privateKey || !cert || !key) return;
  if (!certificate.checkPrivateKey(privateKey)) {
    reading.report(key.key, 'names a key that does not belong to the certificate');
  } else if (!isUsable(cert.pem, key.pem)) {
    reading.report(
      cert.key,
      'names a certificate that TLS can not use: it may be too weak, or its chain damaged',
    );
  }
}

/** A certificate that has expired, or will in this time, is probably a mistake. */
const SOON_MS = 86_400_000;

/** What is doubtful about the time that a certificate is valid for, if anything is. Pure. */
export function validityProblem(
  { validFromDate, validToDate }: Pick<X509Certificate, 'validFromDate' | 'validToDate'>,
  nowMs: number,
): string | undefined {
  const [from, to] = [validFromDate, validToDate].map((date) => date.toISOString().replace('.000Z', 'Z'));
  if (validToDate.getTime() <= nowMs) return `names a certificate that expired at ${to}; renew it`;
  if (validToDate.getTime() - nowMs < SOON_MS)
    return `names a certificate that expires within a day, at ${to}; renew it`;
  if (validFromDate.getTime() > nowMs)
    return `names a certificate that is not valid before ${from}; check it, and this machine's clock`;
  return undefined;
}

/** The first end in the chain; warns where it has come, or nearly so. */
function validUntilMs({ pem, key }: TlsFile, { warn }: Reading): number {
  const chain = certificatesIn(pem);
  for (const certificate of chain) {
    const problem = validityProblem(certificate, Date.now());
    if (problem !== undefined) warn(key, problem);
  }
  return Math.min(...chain.map(({ validToDate }) => validToDate.getTime()));
}

function isUsable(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

/** Reads the TLS files for the upstream, and sees that they are what they have to be. */
export function readTls(values: Values, reading: Reading): TlsFiles {
  const ca = readPem('caFile', values, reading);
  const { cert, key } = readPair('certFile', 'keyFile', values, reading);
  if (ca && certificatesIn(ca.pem).length === 0) {
    reading.report(ca.key, 'names a file without a PEM certificate, or with a damaged one');
  }
  if (cert) validUntilMs(cert, reading);
  return {
    ...(ca && { caFile: ca.path, ca: ca.pem }),
    ...(cert && { certFile: cert.path, cert: new Secret(cert.pem) }),
    ...(key && { keyFile: key.path, key: new Secret(key.pem) }),
  };
}

/** The same for clients; undefined where they speak plain HTTP. */
export function readListenTls(values: Values, reading: Reading): ListenTls | undefined {
  const { cert, key } = readPair('listenCertFile', 'listenKeyFile', values, reading);
  if (cert === undefined || key === undefined) return undefined;
  return {
    certFile: cert.path,
    keyFile: key.path,
    cert: new Secret(cert.pem),
    key: new Secret(key.pem),
    validUntilMs: validUntilMs(cert, reading),
  };
}
