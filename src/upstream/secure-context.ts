import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Secret } from '../base/secret.ts';
import type { TlsFiles } from '../config/sections/tls.ts';
import { strictCiphers } from '../node/loosening.ts';

/**
 * The TLS context of all connections of one configuration. It is made for the first connection, because reading the
 * system's certificates takes longer than the rest of the start; and once, because each context takes over a megabyte.
 */
export function lazySecureContext(tls: TlsFiles): () => SecureContext {
  let context: SecureContext | undefined;
  return () => {
    context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      ciphers: strictCiphers(),
      ca: [...trusted(tls.ca)],
      // A configured certificate is trusted, even if it is an intermediate authority without its root.
      allowPartialTrustChain: true,
      ...(tls.cert && { cert: tls.cert.expose() }),
      ...(tls.key && { key: tls.key.expose() }),
    });
    return context;
  };
}

/**
 * The authorities of Node (with NODE_EXTRA_CA_CERTS), those of the system (on Linux the ones in SSL_CERT_FILE and
 * SSL_CERT_DIR, if set), and the configured ones. The set holds those that Node and the system share once.
 */
function trusted(configured: string | undefined): ReadonlySet<string> {
  const known = [...getCACertificates('default'), ...getCACertificates('system')];
  return new Set(configured === undefined ? known : [...known, configured]);
}

/** True if both make the same context. */
export function sameTls(a: TlsFiles, b: TlsFiles): boolean {
  return a.ca === b.ca && Secret.same(a.cert, b.cert) && Secret.same(a.key, b.key);
}
