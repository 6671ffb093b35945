import type { Trouble, World } from './trouble.ts';

const change = (name: string, begin: (world: World) => () => unknown): Trouble => ({
  name: `configuration ${name}`,
  harms: false,
  excuses: [],
  begin,
});

const nothing = () => {};

export const CONFIGURATION_TROUBLES: readonly Trouble[] = [
  change('reloaded', ({ files, program }) => {
    files.change();
    program.signal('SIGHUP');
    return nothing;
  }),
  change('reloaded over and over', ({ files, program }) => {
    const timer = setInterval(() => {
      files.change();
      program.signal('SIGHUP');
    }, 20);
    return () => clearInterval(timer);
  }),
  change('spoiled', ({ files, program }) => {
    files.spoil();
    program.signal('SIGHUP');
    return () => {
      files.change();
      program.signal('SIGHUP');
    };
  }),
  change('has a new secret', ({ files }) => {
    files.rotate();
    return nothing;
  }),
];
