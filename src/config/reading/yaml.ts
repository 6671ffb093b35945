/** Loaded where a file is read or shown. By these names: a package that is imported late has none in the bundle. */
export { Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
