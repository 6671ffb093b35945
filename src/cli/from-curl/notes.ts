import { jwtEndMs } from '../../login/expiry.ts';
import { isPlaceholder, namesYours, placeholdersIn } from './placeholders.ts';
import type { WrittenFiles } from './written-files.ts';

/** What a person has to know of the secrets, a sentence for each; none of it shows one. Pure. */
export function secretNotes(secrets: WrittenFiles['secrets'], nowMs: number): readonly string[] {
  return secrets.flatMap(({ path, text }) => {
    if (isPlaceholder(text))
      return [`What ${path} holds looks like a placeholder: write the real one into it.`];
    const endMs = jwtEndMs(text);
    return endMs === undefined ? [] : [tokenNote(path, endMs, nowMs)];
  });
}

function tokenNote(path: string, endMs: number, nowMs: number): string {
  const end = `${new Date(Math.max(0, endMs)).toISOString().slice(0, -'.000Z'.length)}Z`;
  if (endMs <= nowMs)
    return `What ${path} holds is a token that ended at ${end}: give the line of curl that gets such a token, which bearerd then renews.`;
  return `What ${path} holds is a token that ends at ${end}, and bearerd can't renew it: give the line of curl that gets such a token, or a key that lasts.`;
}

/** What of the URL is not the user's own yet. Pure. */
export function urlNotes(origin: string, target: string): readonly string[] {
  return [
    ...(namesYours(origin) ? [`The host of ${origin} looks like a placeholder: correct baseUrl.`] : []),
    ...placeholdersIn(target).map(
      (placeholder) =>
        `${placeholder} in the call below is a placeholder: write your own value in its place.`,
    ),
  ];
}
