/**
 * Invented people and companies, with domains reserved by RFC 2606. The real shapes of these answers are unknown, so the
 * fields are the mock's own.
 */
export interface Person {
  readonly id: string;
  readonly full_name: string;
  readonly email_address: string;
  readonly title: string;
  readonly company: string;
}

interface Company {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly employees: number;
  readonly city: string;
}

const PEOPLE: readonly Person[] = [
  person('p_1', 'Ada Example', 'ada@example.com', 'Head of Engines', 'Example Engines'),
  person('p_2', 'Grace Sample', 'grace@example.com', 'Rear Compiler', 'Example Engines'),
  person('p_3', 'Zoë Probe', 'zoe@example.org', 'Lead Analyst', 'Probe & Söhne'),
];

const COMPANIES: readonly Company[] = [
  { id: 'c_1', name: 'Example Engines', domain: 'example.com', employees: 120, city: 'London' },
  { id: 'c_2', name: 'Probe & Söhne', domain: 'example.org', employees: 8, city: 'Zürich' },
];

function person(
  id: string,
  full_name: string,
  email_address: string,
  title: string,
  company: string,
): Person {
  return { id, full_name, email_address, title, company };
}

export function findPeopleByEmail(emailAddress: string): readonly Person[] {
  return PEOPLE.filter((candidate) => sameText(candidate.email_address, emailAddress));
}

/** `lookup` is a company's name or its domain, in any letter case. */
export function findCompany(lookup: string): Company | undefined {
  return COMPANIES.find((company) => sameText(company.name, lookup) || sameText(company.domain, lookup));
}

export function summaryOf(orgId: string) {
  return { organization: orgId, people: PEOPLE.length, companies: COMPANIES.length };
}

function sameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
