import { inBrowser, useBrowser } from '../support/browser.js';
import { before } from '../support/until.js';
import { useStage } from '../support/stage.js';
import { input, linear, output, unique } from '../support/workflow.js';

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
    await page.getByLabel('API key', { exact: true }).fill(`${KEY}1`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('did not take this key').waitFor();
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

  inBrowser('follows the event gateway with a ticket', async () => {
    const page = await browser.open(`${stage.parley.url}/runs`);
    const { promise: live, resolve } = Promise.withResolvers<unknown>();
    page.on('websocket', (socket) => socket.on('framereceived', resolve));
    await page.getByLabel('API key', { exact: true }).fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByText('No run yet').waitFor();
    await before(live, { what: 'a frame of the gateway' });
    const headers = { authorization: `Bearer ${KEY}` };
    const workflow = linear(unique('live'), input('in'), output('out'));
    expect((await stage.api.call('POST', '/workflows', workflow, headers)).status).toBe(201);
    await stage.api.start(workflow.name, { in: 'x' }, headers);
    await page.getByRole('link', { name: workflow.name }).waitFor();
  });
});
