import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';

const VIEWS = [
  ...[
    'overview',
    'workflows',
    'workflows/new',
    'runs',
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

  /** Opens a page that reaches nothing but the service. */
  const openOffline = async (path: string, size: { width: number; height: number }): Promise<Page> => {
    const page = await browser.open(`${stage.parley.url}/${path}`, size);
    await page.route('**/*', (route) =>
      route.request().url().startsWith(stage.parley.url) ? route.continue() : route.abort(),
    );
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

  inBrowser('has no link to a page or place that it lacks', async () => {
    const page = await openOffline('help', { width: 1440, height: 900 });
    const text = page.locator('.markdown');
    const ids = new Map<string, string[]>();
    const links = new Set<string>();
    const waiting = ['/help'];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (ids.has(path)) continue;
      // Within the console, since a reload for each page would take minutes.
      await page.evaluate(`history.pushState(null, '', '${path}')`);
      const shown = `[data-help="${path.slice('/help/'.length) || 'README'}"]`;
      await page.locator(`${shown}, [role="alert"]`).first().waitFor();
      const isPage = (await text.count()) > 0;
      const places = text.locator('[id]');
      ids.set(
        path,
        isPage ? ['', ...(await places.evaluateAll((all) => all.map(({ id }: { id: string }) => id)))] : [],
      );
      const found = text.locator('a[href^="/help/"]');
      for (const href of await found.evaluateAll((all) => all.map((it) => it.getAttribute('href') ?? ''))) {
        links.add(href);
        waiting.push(href.split('#', 1)[0]!);
      }
    }
    const lacking = [...links].filter((link) => {
      const [path = '', hash = ''] = link.split('#');
      return ids.get(path)?.includes(hash) !== true;
    });
    expect([lacking, ids.size > 20]).toEqual([[], true]);
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
