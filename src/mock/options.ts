/** The accounts and keys of the mock, all invented. */
export interface MockCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly username: string;
  readonly password: string;
  readonly apiKey: string;
  /** The only organization on which these credentials have a role. */
  readonly orgId: string;
}

export interface MockOptions extends MockCredentials {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** For tokens of service accounts and users: the API documents 15 minutes and 1 hour for both. */
  readonly tokenLifetimeMs: number;
  /** The wall clock for issuing and checking tokens, in epoch milliseconds. */
  readonly now: () => number;
}

export const DEMO_OPTIONS: MockOptions = {
  host: '127.0.0.1',
  port: 0,
  clientId: 'demo-service-account',
  clientSecret: 'demo-client-secret',
  username: 'ada@example.com',
  password: 'demo-password',
  apiKey: 'demo_key_0123456789',
  orgId: 'o_demo',
  tokenLifetimeMs: 15 * 60_000,
  now: Date.now,
};
