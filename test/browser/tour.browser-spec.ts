import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { useStage } from '../support/stage.js';

describe('the tour', () => {
  const stage = useStage();
  const browser = useBrowser();

  inBrowser('leads through the views by keyboard, and is not offered again', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows`, { width: 1440, height: 900 });
    const tour = page.getByRole('region', { name: 'Tour' });
    await page.getByRole('button', { name: 'Take the tour' }).focus();
    await page.keyboard.press('Enter');
    for (const [path, title] of [
      ['workflows', 'Workflows'],
      ['runs', 'Runs'],
      ['inbox', 'Inbox'],
      ['agents', 'Agents'],
    ] as const) {
      await tour.getByRole('heading', { name: title }).waitFor();
      await page.waitForURL(`**/${path}`);
      if (path === 'runs') expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
      await tour.getByRole('button', { name: 'Next' }).focus();
      await page.keyboard.press('Enter');
    }
    await page.waitForURL('**/settings/models');
    await tour.getByRole('button', { name: 'Done' }).click();
    await tour.waitFor({ state: 'detached' });
    await page.goto(`${stage.parley.url}/workflows`);
    await page.locator('[data-template]').first().waitFor();
    expect(await page.getByRole('button', { name: 'Take the tour' }).count()).toBe(0);
  });

  inBrowser('is skipped on a phone, continues after a reload, and may be declined', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows`, { width: 390, height: 844 });
    const tour = page.getByRole('region', { name: 'Tour' });
    await page.getByRole('button', { name: 'Take the tour' }).click();
    await tour.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL('**/runs');
    await page.reload();
    await tour.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.keyboard.press('Escape');
    await tour.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    expect(await tour.count()).toBe(0);
    const other = await browser.open(`${stage.parley.url}/workflows`);
    await other.getByRole('button', { name: 'No, thanks' }).click();
    await other.reload();
    await other.locator('[data-template]').first().waitFor();
    expect(await other.getByRole('button', { name: 'Take the tour' }).count()).toBe(0);
  });
});
