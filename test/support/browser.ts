import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { failureOnPages } from './page-failure.js';

/** Path of the browser that tests drive. */
export const BROWSER_PATH =
  process.env.PARLEY_TEST_BROWSER ??
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ??
  '/usr/bin/chromium';
const MISSING =
  process.env.PARLEY_TEST_NO_BROWSER ??
  (existsSync(BROWSER_PATH) ? undefined : `no browser at ${BROWSER_PATH}; run npm test`);

const skipped: typeof it = it['skip'];

/**
 * Flags by which the pages of a context share one process: starting a process for each site takes longer than the page
 * itself.
 */
const ONE_RENDERER = ['--disable-site-isolation-trials', '--renderer-process-limit=1'];
/**
 * Features of Chromium that tests never see, and for which each context would start two processes. Chromium uses only
 * the last list of disabled features, so this list repeats the features that Playwright disables.
 */
const WITHOUT = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'InitialWebUI',
  'WebUIReloadButton',
  'PreloadTopChromeWebUI',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];
/** Flags that avoid the GPU process: the processor draws everything in any case. */
const WITHOUT_GPU = ['--disable-gpu', '--in-process-gpu'];

/** Starts a Chromium, and a second one if the first crashes while it starts, which happens rarely. */
export async function launchChromium(executablePath: string, args: string[]): Promise<Browser> {
  const launch = (): Promise<Browser> => chromium.launch({ executablePath, args });
  return launch().catch(launch);
}

/**
 * Open pages of the tests of this file, with the errors that each page has logged. If the console replaced a failed
 * view by an error, these name the cause.
 */
const pages = new Map<Page, string[]>();

/**
 * Describes a test in a browser. Without a browser it is reported as skipped, with the reason in its name. A failure
 * names the failed step, then what the pages showed.
 */
export function inBrowser(title: string, body: () => Promise<void>, timeout?: number): void {
  const explained = async (): Promise<void> => {
    try {
      await body();
    } catch (error) {
      throw failureOnPages(error, (await Promise.all([...pages.keys()].map(shown))).join('\n'));
    }
  };
  if (MISSING === undefined) it(title, explained, timeout);
  else skipped(`${title} (${MISSING})`, body, timeout);
}

async function shown(page: Page): Promise<string> {
  const text = await page
    .locator('body')
    .innerText()
    .catch((reason: unknown) => String(reason));
  return [`${page.url()} showed:`, text, ...(pages.get(page) ?? [])].join('\n');
}

/** Browser of a test file. Each page has a separate context. */
export interface Tab {
  /** Opens a page. `theme` is the color scheme that the operating system prefers. */
  open(url: string, options?: OpenOptions): Promise<Page>;
}

export interface OpenOptions {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
  /** True for a screen that is touched. */
  touch?: boolean;
}

/**
 * Starts a browser before all tests of a file, and ends it after them. An uncaught error of a page fails the test that
 * opened the page.
 * @param names host names that resolve to this machine, such as `evil.example`
 */
export function useBrowser(names: readonly string[] = []): Tab {
  let browser: Browser | undefined;
  let contexts: BrowserContext[] = [];
  let errors: Error[] = [];
  beforeAll(async () => {
    const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(', ');
    const resolver = rules === '' ? [] : [`--host-resolver-rules=${rules}`];
    const args = ['--no-sandbox', '--disable-dev-shm-usage', ...ONE_RENDERER, ...WITHOUT_GPU];
    browser = await launchChromium(BROWSER_PATH, [...args, `--disable-features=${WITHOUT.join(',')}`, ...resolver]);
  });
  afterEach(async () => {
    const [open, [thrown]] = [contexts, errors];
    [contexts, errors] = [[], []];
    pages.clear();
    await closeContexts(open);
    if (thrown) throw thrown;
  });
  afterAll(() => browser?.close());
  return {
    open: async (url, { theme = 'light', width = 1280, height = 800, touch = false } = {}) => {
      if (!browser) throw new Error('The browser is not running');
      const context = await browser.newContext({
        colorScheme: theme,
        viewport: { width, height },
        hasTouch: touch,
        permissions: ['clipboard-read', 'clipboard-write'],
        reducedMotion: 'reduce',
      });
      contexts.push(context);
      context.setDefaultTimeout(180_000);
      const page = await context.newPage();
      const [written, thrown]: [string[], Error[]] = [[], errors];
      pages.set(page, written);
      page.on('console', (said) => said.type() === 'error' && written.push(said.text()));
      // What a page throws while it is closed fails no later test.
      page.on('pageerror', (error) => thrown.push(error));
      await page.goto(url);
      return page;
    },
  };
}

/**
 * Closes contexts. Handlers of routes that still run are left alone: what they throw on a closed page fails no test.
 */
export async function closeContexts(contexts: readonly BrowserContext[]): Promise<void> {
  const open = contexts.flatMap((context) => context.pages());
  await Promise.all(open.map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await Promise.all(contexts.map((context) => context.close()));
}

interface WithAxe {
  axe: typeof axe;
}

/** Rules of axe whose results depend on the color theme. */
const OF_COLORS = ['color-contrast', 'link-in-text-block'];

interface Look {
  /** Selector of the part of the page to check; default: the whole page. */
  within?: string;
  /** Names of the rules of axe to apply; default: all. */
  rules?: string[];
}

/** Returns the serious and critical findings of axe on a page, one line each. */
export async function seriousFaults(page: Page, look: Look = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const violations = await page.evaluate(async ({ within, rules }: Look) => {
    // What is well would be told in detail, too.
    const options = { resultTypes: ['violations' as const], ...(rules && { runOnly: rules }) };
    const { axe: onPage } = globalThis as unknown as WithAxe;
    const results = await (within === undefined ? onPage.run(options) : onPage.run(within, options));
    return results.violations;
  }, look);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any[0]?.message ?? ''}`));
}

/**
 * Returns the findings of axe in the light theme, and those about colors in the dark theme, of a page that follows the
 * system's theme.
 * @param within selector of the part to check, if the rest of the page was checked before
 */
export async function seriousFaultsInEitherTheme(page: Page, within?: string): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html${colorScheme === 'dark' ? '.dark' : ':not(.dark)'}`).waitFor();
    const look = { ...(within && { within }), ...(colorScheme === 'dark' && { rules: OF_COLORS }) };
    faults.push(...(await seriousFaults(page, look)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}
