import { connect } from 'node:net';

/** HAProxy answers at once. Without an answer after this time, it hangs. */
const LIMIT_MS = 1_000;
const LONGEST_ANSWER = 1 << 20;

/** Sends one line of commands to HAProxy's Runtime API (management guide, 9.3). Resolves to the whole answer. */
export function runtimeCommand(path: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    let answer = '';
    // The error quotes neither the command nor the answer: both hold credentials.
    const fail = (code: string) => {
      socket.destroy();
      reject(Object.assign(new Error('the Runtime API failed'), { code }));
    };
    const timer = setTimeout(() => fail('ETIMEDOUT'), LIMIT_MS);
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(`${line}\n`, 'latin1'));
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.length > LONGEST_ANSWER) fail('EMSGSIZE');
    });
    socket.on('end', () => {
      socket.destroy();
      resolve(answer);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'EIO'));
    socket.on('close', () => {
      clearTimeout(timer);
      fail('ECONNRESET'); // Changes nothing after `end`.
    });
  });
}

/** Escapes a word of a command: blanks, `;` and backslashes separate words and commands. */
export function word(text: string): string {
  return text.replace(/[^A-Za-z0-9._~+/=:@,-]/g, '\\$&');
}
