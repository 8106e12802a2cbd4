import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const PATH =
  process.env.PARLEY_TEST_BROWSER ??
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ??
  '/usr/bin/chromium';
const MISSING =
  process.env.PARLEY_TEST_NO_BROWSER ?? (existsSync(PATH) ? undefined : `no browser at ${PATH}; run npm test`);

const skipped: typeof it = it['skip'];

/** The pages of a context share a process: to start one for every site that a page leads to takes longer than the page. */
const ONE_RENDERER = ['--disable-site-isolation-trials', '--renderer-process-limit=1'];
/** Nothing is drawn that the processor would not draw in any case. */
const WITHOUT_GPU = ['--disable-gpu', '--in-process-gpu'];

/** A test in a browser; where there is none it is reported as skipped, with the reason in its name. */
export function inBrowser(title: string, body: () => Promise<void>, timeout?: number): void {
  if (MISSING === undefined) it(title, body, timeout);
  else skipped(`${title} (${MISSING})`, body, timeout);
}

/** One browser for a test file; each page has a context of its own. */
export interface Tab {
  /** Opens a page; `theme` is what the system prefers. */
  open(url: string, options?: OpenOptions): Promise<Page>;
}

export interface OpenOptions {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
}

/**
 * Starts a browser before all tests of a file and ends it after them. What a page throws fails the test that opened it.
 * @param names leads to this machine: `evil.example`
 */
export function useBrowser(names: readonly string[] = []): Tab {
  let browser: Browser | undefined;
  let contexts: BrowserContext[] = [];
  let thrown: Error[] = [];
  beforeAll(async () => {
    const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(', ');
    const resolver = rules === '' ? [] : [`--host-resolver-rules=${rules}`];
    const args = ['--no-sandbox', '--disable-dev-shm-usage', ...ONE_RENDERER, ...WITHOUT_GPU, ...resolver];
    browser = await chromium.launch({ executablePath: PATH, args });
  });
  afterEach(async () => {
    const [open, faults] = [contexts, thrown];
    [contexts, thrown] = [[], []];
    await Promise.all(open.map((context) => context.close()));
    if (faults[0]) throw faults[0];
  });
  afterAll(() => browser?.close());
  return {
    open: async (url, { theme = 'light', width = 1280, height = 800 } = {}) => {
      if (!browser) throw new Error('The browser is not running');
      const context = await browser.newContext({
        colorScheme: theme,
        viewport: { width, height },
        permissions: ['clipboard-read', 'clipboard-write'],
        reducedMotion: 'reduce',
      });
      contexts.push(context);
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      page.on('pageerror', (error) => thrown.push(error));
      await page.goto(url);
      return page;
    },
  };
}

interface WithAxe {
  axe: typeof axe;
}

/** What axe finds serious or critical on a page, one line each. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    // What is well would be told in detail, too.
    const results = await (globalThis as unknown as WithAxe).axe.run({ resultTypes: ['violations'] });
    return results.violations;
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any[0]?.message ?? ''}`));
}

/** The same in light and in dark, of a page that follows its system. */
export async function seriousFaultsInEitherTheme(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html${colorScheme === 'dark' ? '.dark' : ':not(.dark)'}`).waitFor();
    faults.push(...(await seriousFaults(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}
