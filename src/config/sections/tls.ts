import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { Secret } from '../../base/secret.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import { type Reading, settingPlace } from '../reading/reading.ts';
import { readTextFile } from '../reading/text-file.ts';
import { At } from '../shapes/shape.ts';

/** PEM texts, read when the configuration was, each with the path of its file. */
export interface TlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly ca?: string;
  /** A secret, because the file may hold its key, too. */
  readonly cert?: Secret;
  readonly key?: Secret;
}

/** The listener's certificate, if clients speak TLS. */
export interface ListenTls extends Required<Pick<TlsFiles, 'certFile' | 'keyFile' | 'cert' | 'key'>> {
  /** When the first certificate of the chain expires, in epoch milliseconds. */
  readonly validUntilMs: number;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Undefined if it can't be parsed: OpenSSL's reasons don't help, and its text may hold anything. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** The certificates of a PEM text; none if one of them can't be parsed. */
function certificatesIn(pem: string): readonly X509Certificate[] {
  return parsed(() => (pem.match(CERTIFICATE) ?? []).map((block) => new X509Certificate(block))) ?? [];
}

interface TlsFile {
  readonly path: string;
  readonly pem: string;
  readonly at: At;
}

type FileSetting = 'caFile' | 'certFile' | 'keyFile' | 'listenCertFile' | 'listenKeyFile';

function readPem(name: FileSetting, values: Values, reading: Reading): TlsFile | undefined {
  const path = values[name];
  if (path === undefined) return undefined;
  const { key, folder } = settingPlace(SETTINGS[name], reading);
  const file = readTextFile(path, folder, key, reading);
  return file && { path: file.path, pem: file.content, at: new At(key, reading) };
}

/** A certificate and its key: both, or none. */
function readPair(
  [certName, keyName]: ['certFile', 'keyFile'] | ['listenCertFile', 'listenKeyFile'],
  values: Values,
  reading: Reading,
): { readonly cert: TlsFile | undefined; readonly key: TlsFile | undefined } {
  const cert = readPem(certName, values, reading);
  const key = readPem(keyName, values, reading);
  const [given, missing] = values[keyName] === undefined ? [certName, keyName] : [keyName, certName];
  if (values[given] !== undefined && values[missing] === undefined) {
    const { variable } = SETTINGS[missing];
    reading.report(variable, `is missing; ${settingPlace(SETTINGS[given], reading).key} needs it`);
  }
  checkPair(cert, key);
  return { cert, key };
}

function checkPair(cert: TlsFile | undefined, key: TlsFile | undefined): void {
  const certificate = cert && certificatesIn(cert.pem)[0];
  const privateKey = key && parsed(() => createPrivateKey(key.pem));
  if (certificate === undefined) cert?.at.report('names a file without a PEM certificate');
  if (privateKey === undefined)
    key?.at.report('names a file without a PEM private key that can be used without a passphrase');
  if (!certificate || !privateKey || !cert || !key) return;
  if (!certificate.checkPrivateKey(privateKey))
    key.at.report('names a key that does not belong to the certificate');
  else if (parsed(() => createSecureContext({ cert: cert.pem, key: key.pem })) === undefined)
    cert.at.report('names a certificate that TLS can not use: it may be too weak, or its chain damaged');
}

const SOON_MS = 86_400_000;

/** Warns of a certificate that is not valid now, or not for long. Pure. */
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

/** When the first certificate of the chain expires. */
function validUntilMs({ pem, at }: TlsFile): number {
  const chain = certificatesIn(pem);
  for (const certificate of chain) {
    const problem = validityProblem(certificate, Date.now());
    if (problem !== undefined) at.reading.warn(at.key, problem);
  }
  return Math.min(...chain.map(({ validToDate }) => validToDate.getTime()));
}

/** The TLS files for the upstream, checked. */
export function readTls(values: Values, reading: Reading): TlsFiles {
  const ca = readPem('caFile', values, reading);
  const { cert, key } = readPair(['certFile', 'keyFile'], values, reading);
  if (ca && certificatesIn(ca.pem).length === 0)
    ca.at.report('names a file without a PEM certificate, or with a damaged one');
  if (cert) validUntilMs(cert);
  return {
    ...(ca && { caFile: ca.path, ca: ca.pem }),
    ...(cert && { certFile: cert.path, cert: new Secret(cert.pem) }),
    ...(key && { keyFile: key.path, key: new Secret(key.pem) }),
  };
}

/** The same for clients; undefined if they speak plain HTTP. */
export function readListenTls(values: Values, reading: Reading): ListenTls | undefined {
  const { cert, key } = readPair(['listenCertFile', 'listenKeyFile'], values, reading);
  if (cert === undefined || key === undefined) return undefined;
  return {
    certFile: cert.path,
    keyFile: key.path,
    cert: new Secret(cert.pem),
    key: new Secret(key.pem),
    validUntilMs: validUntilMs(cert),
  };
}
