import { createHash } from 'node:crypto';

/**
 * Adds a serial number to a CycloneDX document: a UUID of version 8 (RFC 9562 §5.8) made from its content, so that equal
 * documents have equal numbers.
 */
export function withSerialNumber<T extends object>(document: T): T & { readonly serialNumber: string } {
  const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  const variant = ((Number.parseInt(hash[16]!, 16) & 3) | 8).toString(16);
  const groups = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ];
  return { ...document, serialNumber: `urn:uuid:${groups.join('-')}` };
}
