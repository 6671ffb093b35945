import { type MockApi, startMockApi } from '../../src/mock/mock-api.ts';
import type { Lifetime } from './lifetime.ts';

/** A mock of the API for as long as the test runs. */
export async function mockFor(t: Lifetime, options?: Parameters<typeof startMockApi>[0]): Promise<MockApi> {
  const mock = await startMockApi(options);
  t.teardown(() => mock.close());
  return mock;
}

/** The variables by which a process of ours uses its service account. */
export function accountOf({ url, credentials }: MockApi) {
  return {
    BEARERD_BASE_URL: url,
    BEARERD_CLIENT_ID: credentials.clientId,
    BEARERD_CLIENT_SECRET: credentials.clientSecret,
  };
}
