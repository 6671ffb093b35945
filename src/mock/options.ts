/** The accounts and keys of the mock. All of them are invented. */
export interface MockCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly username: string;
  readonly password: string;
  readonly apiKey: string;
  /** The one organization on which these credentials hold a role. */
  readonly orgId: string;
}

export interface MockOptions extends MockCredentials {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Of service-account and user tokens alike: the API gives both 15 minutes and 1 hour. */
  readonly tokenLifetimeMs: number;
  /** The wall clock that tokens are issued and judged by, in milliseconds since the epoch. */
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
