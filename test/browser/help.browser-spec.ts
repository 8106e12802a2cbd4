import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';

const VIEWS = [
  ...[
    'overview',
    'workflows',
    'workflows/new',
    'runs',
    'schedules',
    'inbox',
    'conversations',
    'brainstorms',
    'agents',
    'tasks',
    'settings',
  ],
  ...['settings/credentials', 'settings/mcp-servers', 'settings/agents', 'settings/cards', 'settings/files'],
];

describe('the help', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  /** URLs outside the service that the pages of a test have requested. */
  let foreign: string[] = [];
  beforeEach(() => void (foreign = []));
  afterEach(() => expect(foreign).toEqual([]));

  /** Opens a page whose requests to anything but the service fail the test. */
  const openOffline = async (path: string, size: { width: number; height: number }): Promise<Page> => {
    const page = await browser.open('about:blank', size);
    page.on('request', (request) => {
      if (!request.url().startsWith(stage.parley.url)) foreign.push(request.url());
    });
    await page.goto(`${stage.parley.url}/${path}`);
    return page;
  };

  inBrowser('is a page of the documentation for each view, which the service itself sends', async () => {
    const page = await openOffline('help', { width: 1440, height: 900 });
    for (const view of VIEWS) {
      await page.goto(`${stage.parley.url}/${view}`);
      const link = page.getByRole('link', { name: 'Help for this page' });
      const href = (await link.getAttribute('href')) ?? '';
      expect([view, (await fetch(`${stage.parley.url}${href}`)).status]).toEqual([view, 200]);
      await link.click();
      await page.locator('.markdown p').first().waitFor();
      const hash = new URL(page.url()).hash;
      if (hash !== '') await page.locator(hash).waitFor();
    }
  });

  inBrowser('is readable on a phone and by keyboard, and says so of a page that it lacks', async () => {
    const page = await openOffline('settings/models', { width: 390, height: 844 });
    await page.getByRole('link', { name: 'Help for this page' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.getByRole('heading', { name: 'Testing a model' }).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    for (const name of ['nothing', '..%2F..%2Fpackage', 'constructor']) {
      await page.goto(`${stage.parley.url}/help/${name}`);
      await page.getByRole('alert').getByText('There is no help page').waitFor();
    }
  });
});
