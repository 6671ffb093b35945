import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

import type { TlsFiles } from '../config.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import { Secret } from '../secret.ts';
import type { Reading } from './reading.ts';
import { sourceOf } from './single-settings.ts';
import { readTextFile } from './text-file.ts';

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
    // OpenSSL's reasons help nobody, and its text is not ours to vouch for.
    return undefined;
  }
}

interface TlsFile {
  readonly path: string;
  readonly pem: string;
  readonly key: string;
}

function readPem(
  name: 'caFile' | 'certFile' | 'keyFile',
  values: Values,
  reading: Reading,
): TlsFile | undefined {
  const path = values[name];
  if (path === undefined) return undefined;
  const { key, folder } = sourceOf(SETTINGS[name], reading);
  const file = readTextFile(path, folder, key, reading);
  return file && { path: file.path, pem: file.content, key };
}

function checkPair(cert: TlsFile | undefined, key: TlsFile | undefined, reading: Reading): void {
  const certificate = cert && certificatesIn(cert.pem)[0];
  const privateKey = key && privateKeyIn(key.pem);
  if (cert && certificate === undefined) reading.report(cert.key, 'names a file without a PEM certificate');
  if (key && privateKey === undefined) {
    reading.report(key.key, 'names a file without a PEM private key that can be used without a passphrase');
  }
  if (certificate && privateKey && key && !certificate.checkPrivateKey(privateKey)) {
    reading.report(key.key, 'names a key that does not belong to the certificate');
  }
}

/** Reads the TLS files and sees that they are what they have to be. */
export function readTls(values: Values, reading: Reading): TlsFiles {
  const { certFile, keyFile } = SETTINGS;
  const ca = readPem('caFile', values, reading);
  const cert = readPem('certFile', values, reading);
  const key = readPem('keyFile', values, reading);
  if (ca && certificatesIn(ca.pem).length === 0) {
    reading.report(ca.key, 'names a file without a PEM certificate, or with a damaged one');
  }
  if (values.keyFile === undefined && values.certFile !== undefined) {
    reading.report(keyFile.variable, `is missing; ${sourceOf(certFile, reading).key} needs it`);
  }
  if (values.certFile === undefined && values.keyFile !== undefined) {
    reading.report(certFile.variable, `is missing; ${sourceOf(keyFile, reading).key} needs it`);
  }
  checkPair(cert, key, reading);
  return {
    ...(ca && { caFile: ca.path, ca: ca.pem }),
    ...(cert && { certFile: cert.path, cert: cert.pem }),
    ...(key && { keyFile: key.path, key: new Secret(key.pem) }),
  };
}
