/** @param {string} path @returns {Promise<unknown>} undefined where it can't be had: the next event asks again */
export async function load(path) {
  try {
    const response = await fetch(path, { cache: 'no-store' });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
