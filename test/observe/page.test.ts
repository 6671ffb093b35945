import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { type GatewayOptions, gatewayFor, type TestGateway } from '../support/gateway.ts';
import { mockFor } from '../support/mock.ts';
import { IS_WHOLE } from '../support/share.ts';

// The page in a real browser. BEARERD_SCREENSHOT=1 also writes the picture for the docs.
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip = !existsSync(CHROMIUM) && `there is no Chromium at ${CHROMIUM}`;
const PICTURE = fileURLToPath(new URL('../../docs/page.png', import.meta.url));
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const PATIENCE = { timeout: 120_000 };

let browser: Browser;
t.before(async () => {
  if (skip === false) browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS });
});
t.teardown(async () => {
  if (skip === false) await browser.close();
});

async function proxyFor(t: Test, more: Pick<GatewayOptions, 'env' | 'yaml'> = {}) {
  const mock = await mockFor(t);
  const env = {
    BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
    BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    BEARERD_CLIENT_ID: mock.credentials.clientId,
    BEARERD_CLIENT_SECRET: mock.credentials.clientSecret,
    BEARERD_API_KEY: mock.credentials.apiKey,
    BEARERD_ROUTES: '/=token,/companies=apiKey,/health=none',
    ...more.env,
  };
  const proxy = await gatewayFor(t, { baseUrl: mock.url, ...more, env });
  return { mock, proxy, url: `http://127.0.0.1:${proxy.adminPort}/` };
}

/** The visible text of an element. */
async function seen(page: Page, selector: string): Promise<string> {
  const [text = ''] = await page.locator(selector).first().allInnerTexts();
  return text.replaceAll('\u00a0', ' ');
}

async function someRequests({ get }: TestGateway): Promise<void> {
  for (const path of ['/echo', '/companies/example.com?key=hidden', '/health', '/nowhere', '/a//b%2f..']) {
    await get(path);
  }
}

/** Opens the page on this screen; an error in the browser's console fails the test. */
async function look(
  t: Test,
  url: string,
  width: number,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  page.on('pageerror', (error) => t.fail(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) t.fail(`${request.url()} is requested`);
  });
  // The console also reports answers with an error status; the page handles those.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load')) t.fail(message.text());
  });
  await page.goto(url);
  await page.locator('#state', { hasText: /^(Ready|Not ready)$/ }).waitFor();
  return page;
}

t.test(
  'the page shows the state of each credential, each route and the last requests',
  { skip },
  async (t) => {
    const { proxy, url } = await proxyFor(t);
    await someRequests(proxy);
    const page = await look(t, url, 1280);
    t.match(await seen(page, '#credentials li'), /token\s*session\s*Fresh\s*\d+ min( \d+ s)? left/);
    t.match(await seen(page, '#credentials li'), /Next login\s+in \d+ min/);
    t.equal(await page.locator('#routes tr').count(), 3);
    await page.locator('#requests tr').nth(4).waitFor();
    const requests = await seen(page, '#requests');
    t.match(requests, /GET\s+\/companies\/example\.com\s+200\s+[\d.]+ ms\s+→ apiKey/);
    t.match(requests, /400bad-path|400\s+bad-path/);
    t.notMatch(await seen(page, 'body'), 'key=', 'the page shows no query');
    await page.locator('summary').click();
    const configuration = await seen(page, '#configuration');
    t.match(configuration, /clientSecret: "\*\*\*"/);
    t.same(proxy.internalErrors(), []);
  },
);

t.test('the page names each place outside bearerd that holds a credential', { skip }, async (t) => {
  const { url } = await proxyFor(t, {
    env: { BEARERD_SHARE_URL: `unix:/nowhere/redis.sock` },
    yaml: JSON.stringify({
      sinks: [{ envoySds: `/nowhere/sds.yaml`, name: 'bearer' }, { file: `/nowhere/token` }],
    }),
  });
  const page = await look(t, url, 1280);
  await page.locator('#shared', { hasText: 'not now (ENOENT)' }).waitFor();
  await page.locator('summary').click();
  const configuration = await seen(page, '#configuration');
  t.match(configuration, 'the engine that share.url names holds access tokens, sealed\n');
  t.match(configuration, `the file for Envoy /nowhere/sds.yaml holds token\n`);
  t.match(configuration, `the file /nowhere/token holds token\n`);
});

t.test('the page updates without being loaded again', { skip }, async (t) => {
  const { mock, proxy, url } = await proxyFor(t);
  const page = await look(t, url, 1280);
  await page.locator('#no-requests').waitFor();
  await proxy.get('/echo');
  await page.locator('#requests tr').waitFor();
  mock.behave({ login: 'down' });
  await page.getByRole('button', { name: 'Renew tokens' }).click();
  await page.locator('#credentials .state', { hasText: 'Degraded' }).waitFor();
  t.match(await seen(page, '#renewed'), /^token could not be renewed: .+\.$/);
  t.not(await seen(page, '#credentials .failure'), '');
  mock.behave({ login: 'ok' });
  await page.locator('#credentials .state', { hasText: 'Fresh' }).waitFor();
  await proxy.gateway.destroy();
  await page.locator('#state', { hasText: 'Connection lost' }).waitFor();
});

t.test('the page says on top what is wrong now, until it is over', { skip }, async (t) => {
  const { mock, proxy, url } = await proxyFor(t);
  const page = await look(t, url, 360);
  t.equal(await page.locator('#wrong li').count(), 0);
  mock.behave({ data: 'unauthorized' });
  for (let n = 0; n < 3; n++) await proxy.get('/echo');
  await page
    .locator('#wrong li', { hasText: 'requests of route /: the last 3 were answered with 401.' })
    .waitFor();
  mock.behave({ data: 'ok' });
  await proxy.get('/echo');
  await page.locator('#wrong li').waitFor({ state: 'detached' });
});

t.test('requests can be filtered by their text, or by failure', { skip }, async (t) => {
  const { proxy, url } = await proxyFor(t);
  await someRequests(proxy);
  const page = await look(t, url, 1280);
  await page.locator('#requests tr').nth(4).waitFor();
  await page.getByLabel('Failures only').check();
  t.equal(await page.locator('#requests tr').count(), 2);
  await page.getByLabel('Show only requests with').fill('bad-path');
  t.equal(await page.locator('#requests tr').count(), 1);
  await page.getByLabel('Show only requests with').fill('nothing has this');
  t.match(await seen(page, '#no-requests'), /No request among the last 200 matches/);
});

t.test(
  'with many requests the rest of the page stays reachable, and a lost connection is visible at any scroll position',
  { skip },
  async (t) => {
    const { proxy, url } = await proxyFor(t);
    for (let i = 0; i < 200; i++) await proxy.get('/health');
    for (const width of [360, 1600]) {
      const page = await look(t, url, width);
      await page.locator('#requests tr').nth(29).waitFor();
      t.equal(await page.locator('#requests tr').count(), 30);
      const before = await page.evaluate(
        "document.querySelector('#configured').compareDocumentPosition(document.querySelector('#requests')) === 4",
      );
      t.equal(before, true, 'the configuration comes before the requests');
      await page.getByRole('button', { name: 'Show all 200' }).click();
      t.equal(await page.locator('#requests tr').count(), 200);
      t.equal(await page.locator('#more').isVisible(), false);
      await page.locator('footer').scrollIntoViewIfNeeded();
      const shown = await page.evaluate(
        "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector('#state').getBoundingClientRect())",
      );
      t.equal(shown, true, 'the state is visible at the end of the page');
    }
  },
);

const SCREENS = [
  [360, 'dark'],
  [1280, 'light'],
  [360, 'light'],
  [1280, 'dark'],
] as const;
for (const [width, scheme] of IS_WHOLE ? SCREENS : SCREENS.slice(0, 2)) {
  t.test(`at ${width} pixels, ${scheme}, the page fits and is accessible`, { skip }, async (t) => {
    const { mock, proxy, url } = await proxyFor(t);
    await someRequests(proxy);
    await proxy.get(`/companies/${'a-long-name-'.repeat(20)}`);
    mock.behave({ login: 'down' });
    await fetch(`${url}renew`, { method: 'POST' });
    const page = await look(t, url, width, scheme);
    await page.locator('#credentials .state', { hasText: 'Degraded' }).waitFor();
    await page.locator('#requests tr').nth(5).waitFor();
    await page.locator('summary').click();
    const scrolls = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    t.equal(scrolls, false, 'the page does not scroll sideways');
    await page.evaluate(axe.source); // Runs by the debugger, so that the page's own policy stays in force.
    const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
    t.same(
      violations.map(({ id, nodes }) => [
        id,
        ...nodes.map(({ html, failureSummary }) => [html, failureSummary]),
      ]),
      [],
    );
  });
}

t.test('each control can be reached by the keyboard, and shows its focus', { skip }, async (t) => {
  const { proxy, url } = await proxyFor(t);
  await someRequests(proxy);
  const page = await look(t, url, 1280);
  const reached: string[] = [];
  for (let n = 0; n < 9; n++) {
    await page.keyboard.press('Tab');
    reached.push(
      (await page.evaluate(
        `(({ tagName, id }) => tagName.toLowerCase() + (id && '#' + id))(document.activeElement)`,
      )) as string,
    );
    t.not(
      await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'),
      'none',
      reached.at(-1)!,
    );
    if (reached.at(-1) === 'summary') await page.keyboard.press('Enter');
  }
  t.same(reached, [
    'button#renew',
    'summary',
    'section',
    'input#words',
    'input#failures',
    'a',
    'a',
    'a',
    'a',
  ]);
});

const wanted = process.env.BEARERD_SCREENSHOT !== undefined;
t.test(
  'the picture in the docs is of this page',
  { skip: skip || (!wanted && 'BEARERD_SCREENSHOT is not set') },
  async (t) => {
    const { proxy, url } = await proxyFor(t);
    const page = await look(t, url, 1000);
    for (let n = 0; n < 6; n++) {
      await someRequests(proxy);
      await page.waitForTimeout(500);
    }
    await page.locator('#requests tr').nth(20).waitFor();
    await page.screenshot({ path: PICTURE, clip: { x: 0, y: 0, width: 1000, height: 1000 }, fullPage: true });
  },
);
