import { resolve } from 'node:path';
import { type Parsed, problemsOf } from './kind.ts';

function wordProblem(word: unknown, index: number): string | undefined {
  if (typeof word === 'number' || typeof word === 'boolean') {
    return 'must be in quotes: YAML reads it as a number or a boolean';
  }
  if (typeof word !== 'string') return 'must be text';
  if (index === 0 && word.trim() === '') return 'must name a program';
  if (word.includes('\0')) return 'may not hold a NUL character';
  return undefined;
}

/** A program and its arguments, word by word. Nothing in them is expanded. */
export function parseCommand(raw: unknown): Parsed<readonly string[]> {
  if (!Array.isArray(raw)) {
    return { problem: 'must be a list of a program and its arguments, [PROGRAM, ARG, …]; there is no shell' };
  }
  if (raw.length === 0) return { problem: 'needs at least one entry, the program' };
  const problem = problemsOf(raw.map(wordProblem));
  return problem === undefined ? { value: [...raw] as string[] } : { problem };
}

/** A name alone is searched in PATH; a relative path begins at `folder`. */
export function placed([program = '', ...args]: readonly string[], folder: string): readonly string[] {
  return [program.includes('/') ? resolve(folder, program) : program, ...args];
}

/** Whether this can be a program's name or path alone. */
export function isProgramName(text: string): boolean {
  return /^[\w./+@-]+$/.test(text);
}

/** The program for a message, unless it is a whole command line, which may hold a secret. */
export function shownProgram(program: string): string {
  return isProgramName(program) ? program : '(whose first entry holds more than a name)';
}
