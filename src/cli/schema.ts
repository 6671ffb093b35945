import { fileSchema } from '../config/sections/file.ts';
import { type Command, print } from './command.ts';
import { EXIT } from './exit-codes.ts';

export const schema: Command = {
  synopsis: '',
  summary: 'prints the JSON Schema of the configuration file',
  help: '',
  examples: ['bearerd schema > bearerd.schema.json'],
  variables: [],
  options: {},
  positionals: [0, 0],
  async run() {
    await print(`${JSON.stringify(fileSchema(), null, 2)}\n`);
    return EXIT.done;
  },
};
