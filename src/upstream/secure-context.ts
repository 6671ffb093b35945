import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Secret } from '../base/secret.ts';
import type { TlsFiles } from '../config/config.ts';
import { strictCiphers } from '../node/loosening.ts';

/**
 * What every TLS connection of one configuration shares. It is made at the first of them, since reading the system's
 * certificates takes longer than all else at the start, and once, since each holds more than a megabyte.
 */
export function lazySecureContext(tls: TlsFiles): () => SecureContext {
  let context: SecureContext | undefined;
  return () => {
    context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      ciphers: strictCiphers(),
      ca: [...trusted(tls.ca)],
      // Whatever was configured is trusted, be it an intermediate authority alone.
      allowPartialTrustChain: true,
      ...(tls.cert && { cert: tls.cert.expose() }),
      ...(tls.key && { key: tls.key.expose() }),
    });
    return context;
  };
}

/**
 * Those that Node brings (with NODE_EXTRA_CA_CERTS), those that the system trusts (on Linux what SSL_CERT_FILE and
 * SSL_CERT_DIR name, where they are set), and the configured ones. Most are in the first two alike.
 */
function trusted(configured: string | undefined): ReadonlySet<string> {
  const known = [...getCACertificates('default'), ...getCACertificates('system')];
  return new Set(configured === undefined ? known : [...known, configured]);
}

/** Whether both make the same context. */
export function sameTls(a: TlsFiles, b: TlsFiles): boolean {
  return a.ca === b.ca && sameSecret(a.cert, b.cert) && sameSecret(a.key, b.key);
}

function sameSecret(a: Secret | undefined, b: Secret | undefined): boolean {
  return a === undefined ? b === undefined : a.equals(b);
}
