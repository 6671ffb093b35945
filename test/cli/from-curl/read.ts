import { readCurlLine } from '../../../src/cli/from-curl/curl-line.ts';
import { requestOf } from '../../../src/cli/from-curl/curl-request.ts';
import { findCredential } from '../../../src/cli/from-curl/found-credential.ts';
import {
  headersLeftOut,
  optionsLeftOut,
  proxyVariable,
  sameCall,
} from '../../../src/cli/from-curl/same-call.ts';
import { readShellLine } from '../../../src/cli/from-curl/shell-line.ts';
import { checkFiles } from '../../../src/cli/from-curl/written-check.ts';
import { filesOf } from '../../../src/cli/from-curl/written-files.ts';

/** What a line gives. */
export function read(text: string, output = 'bearerd.yaml') {
  const line = readCurlLine(readShellLine(text));
  const request = requestOf(line);
  const found = findCredential(line, request);
  return {
    line,
    request,
    found,
    leftOut: [...headersLeftOut(request), ...optionsLeftOut(line), ...line.leftOut],
    call: sameCall(line, request, found, 'localhost:9180'),
    proxy: proxyVariable(line, request),
    ...filesOf(line, request, found, output),
  };
}

/** Whether `check` would take what the line gives. */
export async function checked(text: string): Promise<void> {
  const { line, ...files } = read(text);
  await checkFiles(files, line, 'bearerd.yaml');
}
