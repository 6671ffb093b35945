/** @param {string} path @returns {Promise<unknown>} undefined if the request failed: the next event repeats it */
export async function load(path) {
  try {
    const response = await fetch(path, { cache: 'no-store' });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
