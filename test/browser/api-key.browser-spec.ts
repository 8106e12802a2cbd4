import { inBrowser, useBrowser } from '../support/browser.js';
import { useStage } from '../support/stage.js';

const KEY = 'a-key-of-thirty-two-characters-00';

describe('a console whose service wants an API key', () => {
  const stage = useStage({ env: { AUTH_MODE: 'api-key', AUTH_API_KEYS: `anna:${KEY}` } });
  const browser = useBrowser();

  inBrowser('asks for it, keeps it in the tab, and says what is wrong without it', async () => {
    const page = await browser.open(`${stage.parley.url}/agents`);
    await page.getByRole('dialog', { name: 'This service wants an API key' }).waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('API key', { exact: true }).fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Agents' }).waitFor();
    await page.reload();
    await page.getByRole('table', { name: 'Agents' }).waitFor();
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.getItem('parley.api-key')])).toEqual([
      0,
      KEY,
    ]);
  });
});
