/** Loaded only if a file is read or shown. By name: in the bundle, an `import()` of the package itself has no names. */
export { Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
