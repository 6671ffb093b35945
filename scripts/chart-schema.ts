/** Writes the names of the settings into the chart's schema: `npm run chart-schema`. A test fails if that is needed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PLAIN_SETTINGS, SECRET_SETTINGS } from '../src/config/declaration/settings.ts';

const FILE = fileURLToPath(new URL('../deploy/helm/bearerd/values.schema.json', import.meta.url));

interface Names {
  readonly propertyNames: { enum: string[] };
}

/** The schema with the present settings. */
export function chartSchema(text = readFileSync(FILE, 'utf8')): string {
  const schema = JSON.parse(text) as { properties: { settings: Names; secretFiles: Names } };
  const plain = PLAIN_SETTINGS.map(([, { variable }]) => variable);
  // The chart sets the path of the configuration file itself.
  schema.properties.settings.propertyNames.enum = plain.filter((name) => name !== 'BEARERD_CONFIG');
  schema.properties.secretFiles.propertyNames.enum = [
    ...SECRET_SETTINGS.map(({ variable }) => `${variable}_FILE`),
    ...plain.filter((name) => name.endsWith('_FILE')),
  ];
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, chartSchema());
