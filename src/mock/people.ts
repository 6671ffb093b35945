import { findPeopleByEmail, type Person } from './demo-data.ts';
import { badRequest, isObject } from './http.ts';

/** The people who match all fields of at least one match. Throws a 400 for a malformed body. */
export function findPeople(body: unknown): readonly Person[] {
  if (!isObject(body)) throw badRequest('the body must be a JSON object');
  const matches = nonEmptyArray(body.matches, 'matches').map(readMatch);
  return [...new Set(matches.flatMap(peopleOfMatch))];
}

function readMatch(match: unknown, index: number): readonly string[] {
  const at = `matches[${index}]`;
  if (!isObject(match)) throw badRequest(`${at} must be an object`);
  return nonEmptyArray(match.fields, `${at}.fields`).map((field, i) =>
    readField(field, `${at}.fields[${i}]`),
  );
}

function readField(field: unknown, at: string): string {
  if (!isObject(field)) throw badRequest(`${at} must be an object`);
  const { field_name, search_term } = field;
  if (typeof field_name !== 'string') throw badRequest(`${at}.field_name must be a string`);
  if (typeof search_term !== 'string') throw badRequest(`${at}.search_term must be a string`);
  // The real API has more fields, but this is the only one whose name is known.
  if (field_name !== 'email_address')
    throw badRequest(`${at}.field_name: this mock knows "email_address" only`);
  return search_term;
}

function peopleOfMatch(emailAddresses: readonly string[]): readonly Person[] {
  const [first = [], ...others] = emailAddresses.map(findPeopleByEmail);
  return first.filter((person) => others.every((people) => people.includes(person)));
}

function nonEmptyArray(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw badRequest(`${name} must be an array that is not empty`);
  return value;
}
