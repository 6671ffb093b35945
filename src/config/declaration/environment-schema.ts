import { PLAIN_SETTINGS, SECRET_SETTINGS, URL_VARIABLE } from './settings.ts';

/** The environment for env-schema, which changes the object that it gets: a new one each time. */
export function environmentSchema(): Record<string, unknown> {
  const text = (name: string, description: string) => [name, { type: 'string', description }];
  const properties = Object.fromEntries([
    ...PLAIN_SETTINGS.map(([, setting]) => text(setting.variable, setting.description)),
    ...SECRET_SETTINGS.flatMap(({ variable, description }) => [
      text(variable, description),
      text(`${variable}_FILE`, `file that holds it: ${description}`),
      text(`${variable}_COMMAND`, `command that prints it: ${description}`),
    ]),
    text(URL_VARIABLE, 'set by `bearerd exec` for its child; ignored'),
  ]);
  return { type: 'object', properties };
}
