/** What scrub leaves of a text that is all secret. */
export const stars = (text: string): string => '*'.repeat(text.length);

/** Scrubbed answers of a route with a token, and of one with this key. */
export const tokenAndKey = (key: string): string => `
scrub: true
credentials:
  key: { type: apiKey, key: ${key}, header: X-Api-Key }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: key }
`;
