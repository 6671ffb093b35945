type Trim = () => void;

let trim: Trim | undefined;

/**
 * Gives the system back the free pages of the C library's heap (`malloc_trim` of glibc). By itself glibc gives back only
 * the end of its heap, and one small block there keeps all free ones below it: after 2,000 connections some 25 MB, which
 * were parsers of Node's and V8's compiler. Nothing in Node makes that call, so it goes by `node:ffi`, which is
 * experimental: where that or the function is missing (musl, macOS, Windows), the memory stays for the next burst.
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

/** Without the warning that the module is experimental. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
