import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { before } from '../support/until.js';
import { useStage } from '../support/stage.js';
import { input, linear, output, unique } from '../support/workflow.js';

const KEY = 'a-key-of-thirty-two-characters-00';

describe('a console whose service wants an API key', () => {
  const stage = useStage({ env: { AUTH_MODE: 'api-key', AUTH_API_KEYS: `anna:${KEY}` } });
  const browser = useBrowser();

  inBrowser(
    'asks for it, keeps it out of every storage that scripts can read, and says what is wrong without it',
    async () => {
      const page = await browser.open(`${stage.parley.url}/agents`);
      await page.getByRole('dialog', { name: 'This service requires an API key' }).waitFor();
      await page.getByRole('button', { name: 'Not now' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      for (const once of ['in the browser', 'in this tab']) {
        if (once === 'in this tab') await page.getByLabel('Only in this tab').check();
        await page.getByLabel('API key', { exact: true }).fill(`${KEY}${once.length}`);
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').getByText('rejected this key').waitFor();
      }
      await page.getByLabel('API key', { exact: true }).fill(KEY);
      await page.keyboard.press('Enter');
      await page.getByRole('table', { name: 'Agents' }).waitFor();
      await page.reload();
      await page.getByRole('table', { name: 'Agents' }).waitFor();
      expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
    },
  );

  inBrowser('refuses what can be no key, instead of never reaching the service with it', async () => {
    const page = await browser.open(`${stage.parley.url}/agents`);
    await page.getByLabel('API key', { exact: true }).fill(`${KEY}”`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('The key has a character that is not allowed in an API key').waitFor();
    await page.getByLabel('API key', { exact: true }).fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Agents' }).waitFor();
  });

  inBrowser('takes another key for one that may not do this, and follows nothing with that', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const made = await stage.api.call<{ key: string }>(
      'POST',
      '/keys',
      { name: unique('few'), scopes: ['workflows'] },
      headers,
    );
    const page = await browser.open(`${stage.parley.url}/inbox`);
    expect(await page.getByRole('button', { name: 'Use another API key' }).count()).toBe(0);
    await page.getByLabel('API key', { exact: true }).fill(made.body.key);
    await page.keyboard.press('Enter');
    await page.getByText('Not live: this key may not subscribe to events.').waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Use another key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Use another API key' });
    await dialog.getByRole('button', { name: 'Not now' }).click();
    expect((await page.context().cookies()).map((it) => it.name)).toEqual(['parley-session']);
    await page.getByRole('button', { name: 'Use another API key' }).click();
    expect(await seriousFaults(page)).toEqual([]);
    await dialog.getByLabel('API key', { exact: true }).fill(KEY);
    await page.keyboard.press('Enter');
    await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
    await page.getByRole('alert').waitFor({ state: 'detached' });
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

  inBrowser('keeps models with their credentials, and keys of callers; secrets are not shown again', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const [credential, model, secret] = [unique('cred'), unique('model'), unique('secret')];
    const page = await browser.open(`${stage.parley.url}/settings/new-credential`);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByLabel('Name', { exact: true }).fill(credential);
    await page.getByLabel('Kind').selectOption('api-key');
    await page.getByLabel('Key', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('API key', { exact: true }).fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Credentials' }).getByRole('link', { name: credential }).click();
    await page.getByRole('heading', { level: 1, name: credential }).waitFor();
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('');

    await page.goto(`${stage.parley.url}/settings`);
    await page.getByRole('heading', { name: 'No model yet' }).waitFor();
    await page.getByRole('link', { name: 'Add a model' }).click();
    await page.getByLabel('Name', { exact: true }).fill(model);
    await page.getByLabel('Model', { exact: true }).fill('large');
    await page.getByLabel('Base URL').fill('http://169.254.169.254/v1');
    await page.getByLabel('Credential').selectOption(credential);
    await page.getByLabel('Media types besides text').fill('image/*');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('must be an address that this service may call').first().waitFor();
    await page.getByLabel('Base URL').fill('https://models.example.com/v1');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('table', { name: 'Models' }).getByRole('link', { name: model }).click();
    await page.getByLabel('Provider').selectOption('anthropic');
    await page.getByText('Defaults for nodes that set none').click();
    await page.getByLabel('Temperature').fill('0.2');
    await page.getByLabel('Tool calls').selectOption('schema');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Anthropic' }).waitFor();
    const kept = await stage.api.call('GET', `/models/${model}`, undefined, headers);
    const defaults = { temperature: 0.2, toolCalls: 'schema' };
    const saved = { provider: 'anthropic', model: 'large', auth: credential, input: ['image/*'], defaults };
    expect(kept.body).toMatchObject(saved);
    expect(await seriousFaults(page)).toEqual([]);

    await page.getByRole('link', { name: 'Credentials' }).click();
    await page.getByRole('link', { name: credential }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`models name the credential "${credential}": ${model}`).waitFor();
    await page.goto(`${stage.parley.url}/settings/models/${model}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No model yet' }).waitFor();

    await page.getByRole('link', { name: 'Keys' }).click();
    const [label, caller] = [page.getByText('Caller', { exact: true }).first(), page.getByLabel('Caller')];
    const [above, below] = await Promise.all([label.boundingBox(), caller.boundingBox()]);
    expect(above!.y + above!.height).toBeLessThanOrEqual(below!.y);
    await caller.fill('bob');
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByRole('status').getByText('The key of bob').waitFor();
    await page.getByRole('row', { name: 'bob' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: 'bob' }).getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
  });
});
