import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { pathOf } from '../support/manifests.ts';

/** The test that reads all files of a folder of deploy/. */
const TESTS: Readonly<Record<string, string>> = {
  compose: 'compose.test.ts',
  grafana: '../observe/deploy.test.ts',
  helm: 'helm.test.ts',
  kubernetes: 'kubernetes.test.ts',
  prometheus: '../observe/deploy.test.ts',
  systemd: 'unit-files.test.ts',
};

t.test('each folder of deploy/ is validated by a test', async (t) => {
  t.same(readdirSync(pathOf('')).sort(), Object.keys(TESTS));
  for (const test of Object.values(TESTS))
    t.ok(existsSync(fileURLToPath(new URL(test, import.meta.url))), test);
});
