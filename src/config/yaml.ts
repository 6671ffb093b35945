/** Loaded when there is a file to read. By these names: a package that is imported late has none in the bundle. */
export { LineCounter, parseDocument, stringify } from 'yaml';
