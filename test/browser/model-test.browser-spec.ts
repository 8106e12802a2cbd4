import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { FakeLlm } from '../support/fake-llm.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

describe('the test of a model in the settings', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  let llm: FakeLlm;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
  });

  inBrowser('shows the answer, or which field is wrong, before the model is saved', async () => {
    const page = await browser.open(`${stage.parley.url}/settings/new-model`, { width: 1440, height: 900 });
    const name = unique('tried');
    const shown = (cause: string) => page.locator(`[data-cause="${cause}"]`);
    const test = page.getByRole('button', { name: 'Test', exact: true });
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Model', { exact: true }).fill('small');
    await page.getByLabel('Base URL').fill('http://127.0.0.1:1/v1');
    await test.click();
    await shown('unreachable').getByText('Nothing answers at this address').waitFor();
    await page.getByLabel('Base URL').fill(llm.url);
    llm.answer = () => ({ status: 401, error: 'invalid key' });
    await test.click();
    await shown('key-refused').getByText('The key is wrong').waitFor();
    llm.answer = () => ({ status: 404, error: 'The model `small` does not exist' });
    await test.click();
    await shown('unknown-model').getByText('The provider has no model of this name').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    llm.answer = () => ({ text: 'ok, it works', usage: { input: 9, output: 4 } });
    await test.focus();
    await page.keyboard.press('Enter');
    await shown('none').getByText('ok, it works').waitFor();
    await shown('none').getByText('9 + 4 tokens').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    expect((await stage.api.call('GET', `/models/${name}`)).status).toBe(404);
  });

  inBrowser('works on a phone, and saving keeps the price', async () => {
    const name = unique('priced');
    const price = { input: '1', output: '2' };
    const body = { name, provider: 'openai-compatible', model: 'small', baseUrl: llm.url, price };
    expect((await stage.api.call('POST', '/models', body)).status).toBe(201);
    stage.defer(() => stage.api.call('DELETE', `/models/${name}`));
    llm.answer = () => ({ text: 'ok', usage: { input: 1_000_000, output: 0 } });
    const page = await browser.open(`${stage.parley.url}/settings/models/${name}`, { width: 390, height: 844 });
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.locator('[data-cause="none"]').getByText('$1').waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(390);
    await page.getByLabel('Model', { exact: true }).fill('large');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL('**/settings/models');
    expect((await stage.api.call('GET', `/models/${name}`)).body).toMatchObject({ model: 'large', price });
  });
});
