type Trim = () => void;

let trim: Trim | undefined;

/**
 * Gives the system back free pages of the C library's heap, by `malloc_trim` of glibc. By itself glibc gives back only
 * the end of its heap, so one small block there keeps all free memory below it: some 25 MB after 2,000 connections,
 * from parsers and V8's compiler. Nothing in Node calls `malloc_trim`, so this uses `node:ffi`, which is experimental.
 * Where that or the function is missing (musl, macOS, Windows), the memory stays in the process for the next burst.
 */
export function trimMalloc(): void {
  trim ??= find();
  trim();
}

function find(): Trim {
  try {
    const ffi = quietly(() => process.getBuiltinModule('node:ffi'));
    const { functions } = ffi.dlopen(null, { malloc_trim: { arguments: ['uint64'], return: 'int32' } });
    return () => functions.malloc_trim(0n);
  } catch {
    return () => {};
  }
}

/** Loads it without the warning that the module is experimental. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
