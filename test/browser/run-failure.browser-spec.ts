import type { Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { copied } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

describe('the failure of a run', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const failedRun = async (workflow: Workflow | object, inputs = {}): Promise<string> => {
    const { name } = await stage.api.save(workflow as Workflow);
    const runId = await stage.api.start(name, inputs);
    await stage.api.ended(runId);
    return runId;
  };
  const open = (runId: string): Promise<Page> => browser.open(`${stage.parley.url}/runs/${runId}`);
  const press = async (page: Page, name: string | RegExp): Promise<void> => {
    const actions = page.getByRole('group', { name: 'Failure' });
    await actions.getByRole('button', { name }).or(actions.getByRole('link', { name })).focus();
    await page.keyboard.press('Enter');
  };

  inBrowser('leads to its node and runs again from there, by keyboard', async () => {
    const nodes = [input('in'), script('prints', { fail: 'No paper left' }), output('out')];
    const runId = await failedRun(linear(unique('fails'), ...nodes), { in: 'x' });
    const page = await open(runId);
    await page.locator('[data-cause]').getByText('No paper left').waitFor();
    expect(await copied(page.getByRole('button', { name: 'Copy the error' }))).toContain('No paper left');
    await press(page, 'Open prints');
    await page.waitForURL('**/nodes/prints');
    await page.goBack();
    await press(page, 'Run again from prints');
    await page.waitForURL((url) => !url.pathname.includes(runId));
    await page.getByText('an earlier run').first().waitFor();
  });

  inBrowser('leads to the entry of a list, and to the edge that could not be decided', async () => {
    const list = { id: 'list', type: 'input', config: { schema: { type: 'array', items: { type: 'string' } } } };
    const each = {
      id: 'number',
      type: 'set',
      config: { values: { n: '${int(item)}' } },
      each: { items: 'inputs.list' },
    };
    const [edge] = linear('_', echo('list'), echo('number')).edges;
    const entries = { name: unique('each'), language: 2, nodes: [list, each], edges: [edge] };
    const page = await open(await failedRun(entries, { list: ['1', 'x'] }));
    await press(page, 'Open number[1]');
    await page.waitForURL('**/nodes/number%5B1%5D');

    const choice = { from: 'a', to: 'b', when: 'nodes.a.data.n > 1' };
    const undecided = {
      name: unique('edge'),
      language: 2,
      nodes: [echo('a', { prompt: 'x' }), echo('b')],
      edges: [choice],
    };
    await page.goto(`${stage.parley.url}/runs/${await failedRun(undecided)}`);
    await press(page, 'Open the edge');
    await page.waitForURL('**?edge=0');
    await page.locator('[data-details="edge 0"]').waitFor();
  });

  inBrowser('leads to the iteration of a loop that failed, and runs again from that iteration', async () => {
    const values = { n: '${iteration < 2 ? 1 : int("x")}' };
    const edges = [{ from: 'count', to: 'count', loop: { max_iterations: 3 } }];
    const nodes = [{ id: 'count', type: 'set', config: { values } }];
    const runId = await failedRun({ name: unique('loop'), language: 2, nodes, edges });
    const page = await open(runId);
    await press(page, 'Open count@2');
    await page.waitForURL('**/nodes/count%402');
    await page.locator('[data-details="count@2"] [data-status="failed"]').first().waitFor();
    await page.goBack();
    await press(page, 'Run again from count@2');
    await page.waitForURL((url) => !url.pathname.includes(runId));
    const again = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const events = (await (await stage.api.events(again)).all()).map(({ data }) => data);
    const reused = events.filter(({ type }) => type === 'node.reused').map(({ instance }) => instance);
    expect(reused).toEqual(['count@1']);
  });

  inBrowser('leads from the node of a workflow to the run inside it, which failed', async () => {
    const child = await stage.api.save(linear(unique('inner'), script('prints', { fail: 'No paper left' })));
    const node = { id: 'sub', type: 'workflow', config: { workflow: child.name } };
    const page = await open(await failedRun({ name: unique('outer'), nodes: [node], edges: [] }));
    await page.locator('[data-cause]').getByText('No paper left').waitFor();
    await press(page, 'Open sub');
    await page.waitForURL('**/nodes/sub');
    await page.getByRole('link', { name: `Follow its run of ${child.name}` }).click();
    await page.getByRole('heading', { name: `Run of ${child.name}` }).waitFor();
    await press(page, 'Open prints');
    await page.waitForURL('**/nodes/prints');
    // Only the outer run can be rerun: the page of the inner run explains the refusal.
    await page.getByRole('button', { name: 'Run again from prints' }).click();
    await page.getByRole('alert').getByText('rerun that from the node').waitFor();
  });
});
