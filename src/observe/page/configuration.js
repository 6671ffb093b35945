import { byId, setText } from './dom.js';
import { load } from './load.js';
import { clock } from './words.js';

let configuredAt = '';

/** @param {string} since */
export async function showConfiguration(since) {
  if (since === configuredAt) return;
  const loaded = /** @type {{ files: string[], yaml: string } | undefined} */ (await load('configuration'));
  if (loaded === undefined) return;
  configuredAt = since;
  setText(byId('configured'), clock(since));
  setText(byId('configuration'), loaded.yaml);
  const { files } = loaded;
  setText(byId('files'), files.length === 0 ? 'No file was read.' : `Files read: ${files.join(', ')}`);
}
