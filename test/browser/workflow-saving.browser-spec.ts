import type { Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { LOOPBACK_ALLOWED } from '../support/callers.js';
import { nodeOf } from '../support/console-page.js';
import { FakeLlm } from '../support/fake-llm.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { external, input, linear, unique, type Workflow } from '../support/workflow.js';

describe('what is not saved in the workflow editor', () => {
  const stage = useStage({ env: LOOPBACK_ALLOWED });
  const browser = useBrowser();

  const edit = async (workflow: Workflow): Promise<Page> => {
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`);
    await page.locator('[data-node]').first().waitFor();
    return page;
  };
  const saved = async (name: string) => (await stage.api.call<Workflow>('GET', `/workflows/${name}`)).body;

  const describing = async (page: Page, description: string) => {
    await page.getByRole('button', { name: 'Describe', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Describe a workflow' });
    await dialog.getByLabel('What should it do?').fill(description);
    await dialog.getByRole('button', { name: 'Write it' }).click();
    return dialog;
  };

  inBrowser('does not save over what was saved elsewhere meanwhile, unless it is told to', async () => {
    const workflow = linear(unique('twice'), input('in'), external('ext', 'http://127.0.0.1:1'));
    const page = await edit(workflow);
    const { name, ...theirs } = linear(workflow.name, input('in'), external('ext', 'http://127.0.0.1:2'));
    expect((await stage.api.call('PUT', `/workflows/${name}`, theirs)).status).toBe(200);
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:3');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('alert').filter({ hasText: 'saved or deleted elsewhere' });
    await conflict.getByRole('link', { name: 'Look at it in another tab' }).waitFor();
    const url = async () => (await saved(name)).nodes[1]?.config?.['endpoint_url'];
    expect(await url()).toBe('http://127.0.0.1:2');
    await conflict.getByRole('button', { name: 'Save over it' }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    expect(await url()).toBe('http://127.0.0.1:3');
    // From then on it is the one that is edited here.
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:4');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    expect(await url()).toBe('http://127.0.0.1:4');
  });

  inBrowser('saves a workflow that was deleted elsewhere meanwhile, when it is told to', async () => {
    const workflow = linear(unique('gone'), external('ext', 'http://127.0.0.1:1'));
    const page = await edit(workflow);
    expect((await stage.api.call('DELETE', `/workflows/${workflow.name}`)).status).toBe(204);
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:2');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('alert').filter({ hasText: 'saved or deleted elsewhere' });
    await conflict.waitFor();
    expect((await stage.api.call('GET', `/workflows/${workflow.name}`)).status).toBe(404);
    const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
    await conflict.getByRole('button', { name: 'Save over it' }).click();
    expect((await answered).status()).toBe(201);
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    expect((await saved(workflow.name)).nodes[0]?.config?.['endpoint_url']).toBe('http://127.0.0.1:2');
  });

  inBrowser('asks before a link or the history leaves what is not saved', async () => {
    const workflow = linear(unique('leaves'), external('ext', 'http://127.0.0.1:1'));
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/workflows`);
    await page.getByRole('link', { name: workflow.name, exact: true }).click();
    const questions: string[] = [];
    let answer = false;
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void (answer ? dialog.accept() : dialog.dismiss());
    });
    const leave = () => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Runs' }).click();
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:2');
    await leave();
    expect(questions).toEqual(['Leave the editor? What was changed is not saved.']);
    expect(await page.getByLabel('Endpoint URL').inputValue()).toBe('http://127.0.0.1:2');
    await page.evaluate('history.back()');
    await until(() => questions.length === 2, { what: 'the history to be asked about' });
    await page.waitForURL(`**/workflows/edit/${workflow.name}`);
    expect(await page.getByLabel('Endpoint URL').inputValue()).toBe('http://127.0.0.1:2');
    answer = true;
    await page.evaluate('history.back()');
    await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor();
    expect(questions).toHaveLength(3);
    await page.evaluate('history.forward()');
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:2');
    await leave();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    expect(questions).toHaveLength(4);
  });

  inBrowser('asks nothing where a link leaves nothing', async () => {
    const page = await edit(linear(unique('stays'), external('ext', 'http://127.0.0.1:1')));
    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void dialog.dismiss();
    });
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:2');
    const skip = page.getByRole('link', { name: 'Skip to the view' });
    await skip.focus();
    await skip.press('Enter');
    await page.waitForURL(/#/);
    await page.getByRole('button', { name: 'JSON' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    await download;
    expect(questions).toEqual([]);
  });

  inBrowser('says what is missing where a workflow is described and there is no model', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows/new`);
    const dialog = await describing(page, 'Say it loudly.');
    await dialog.getByRole('alert').filter({ hasText: 'Set LLM_BASE_URL or add a model under /api/models.' }).waitFor();
    await dialog.getByRole('link', { name: 'Models' }).waitFor();
  });

  inBrowser('draws what a model writes, with its problems and as one step, and shows what it changes', async () => {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    const model = { name: 'writer', provider: 'openai-compatible', model: 'm', baseUrl: llm.url };
    expect((await stage.api.call('POST', '/models', model)).status).toBe(201);
    const name = unique('described');
    const written = linear(name, input('text'), { id: 'say', type: 'agent', config: { prompt: '{{text}} {{nope}}' } });
    llm.answer = () => JSON.stringify(written);
    const page = await browser.open(`${stage.parley.url}/workflows/new`);
    await (await describing(page, 'Say it loudly.')).waitFor({ state: 'detached' });
    for (const id of ['text', 'say']) await nodeOf(page, id).waitFor();
    await page.getByText('Not saved').waitFor();
    await page.getByRole('button', { name: '1 warning' }).waitFor();
    expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await nodeOf(page, 'say').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Redo' }).click();
    await nodeOf(page, 'say').waitFor();
    // Changed by a second description: the input stays where it is.
    const ask = { id: 'ask', type: 'human', config: { prompt: 'Publish {{say}}?' } };
    const kept = written.nodes.map(({ id }) => ({ id, unchanged: true }));
    llm.answer = () =>
      JSON.stringify({ ...written, nodes: [...kept, ask], edges: [...written.edges, { from: 'say', to: 'ask' }] });
    const place = await nodeOf(page, 'text').boundingBox();
    const dialog = await describing(page, 'Ask a person.');
    const changes = dialog.getByRole('region', { name: 'Changes' });
    await changes.waitFor();
    expect(await changes.getByRole('listitem').allInnerTexts()).toEqual([
      'node ask is added',
      'edge say → ask is added',
    ]);
    await dialog.getByRole('button', { name: 'Use this' }).click();
    await dialog.waitFor({ state: 'detached' });
    await nodeOf(page, 'ask').waitFor();
    expect(await nodeOf(page, 'text').boundingBox()).toEqual(place);
    expect((await stage.api.call('DELETE', '/models/writer')).status).toBe(204);
  });

  inBrowser('says which credential the changes of a model leave out', async () => {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    const model = { name: 'mover', provider: 'openai-compatible', model: 'm', baseUrl: llm.url };
    expect((await stage.api.call('POST', '/models', model)).status).toBe(201);
    const calling = (port: number, auth?: string) => ({
      id: 'ext',
      type: 'external',
      config: { endpoint_url: `http://127.0.0.1:${port}`, ...(auth && { auth }) },
    });
    const workflow = linear(unique('moved'), input('in'), calling(1, 'partner'));
    const page = await edit(workflow);
    llm.answer = () => JSON.stringify({ ...workflow, nodes: [input('in'), calling(2)] });
    const dialog = await describing(page, 'Call the other one.');
    await dialog.getByRole('alert').filter({ hasText: 'the credential for http://127.0.0.1:1 is left out' }).waitFor();
    expect((await stage.api.call('DELETE', '/models/mover')).status).toBe(204);
  });

  inBrowser('opens beside it what a node of it names', async () => {
    const child = linear(unique('child'), input('in'));
    await stage.api.save(child);
    const sub = { id: 'sub', type: 'workflow', config: { workflow: child.name, inputs: { in: 'x' } } };
    const workflow = linear(unique('names'), sub, { id: 'says', type: 'agent' });
    const page = await edit(workflow);
    await page.getByRole('button', { name: 'Tidy up' }).click();
    await page.getByText('Not saved').waitFor();
    for (const [node, name] of [
      ['sub', `Open ${child.name}`],
      ['says', 'Models'],
    ] as const) {
      await page.locator(`[data-node="${node}"]`).click();
      const [beside] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name, exact: true }).click(),
      ]);
      await beside.close();
      expect(await page.getByText('Not saved').isVisible()).toBe(true);
    }
  });
});
