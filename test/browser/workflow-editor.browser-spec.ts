import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { writeDocumentedFiles } from '../support/documented-files.js';
import { openDoor } from '../support/doors.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { external, input, linear, output, unique, type Workflow } from '../support/workflow.js';

describe('the workflow editor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-editor-'));
  writeDocumentedFiles('PLUGINS.md', folder);
  const stage = useStage({ env: { PARLEY_PLUGINS: join(folder, 'shop.ts') } });
  stage.defer(() => rmSync(folder, { recursive: true, force: true }));
  const browser = useBrowser();

  const edit = async (workflow: Workflow): Promise<Page> => {
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`);
    await page.locator('[data-node]').first().waitFor();
    return page;
  };
  const saved = async (name: string) => (await stage.api.call<Workflow>('GET', `/workflows/${name}`)).body;
  const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });

  inBrowser('says what to do where there is no workflow', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows`);
    await page.getByText('No workflow yet').waitFor();
    await page.getByRole('link', { name: 'New workflow' }).first().click();
    await page.getByRole('heading', { name: 'New workflow' }).waitFor();
  });

  inBrowser('rows G1 and G4: the palette offers every type by its label, and a type can be dragged', async () => {
    const page = await edit(linear(unique('palette'), input('in')));
    const palette = page.getByRole('group', { name: 'Node types' });
    await palette.getByRole('button').nth(7).waitFor();
    const labels = await palette.getByRole('button').allInnerTexts();
    expect(labels.map((it) => it.trim().split('\n')[0])).toEqual([
      'User Input',
      'Agent',
      'Tool',
      'Output',
      'External Agent',
      'Script',
      'Conversation',
      'Brainstorm',
    ]);
    const target = { targetPosition: { x: 300, y: 500 } };
    await palette.getByRole('button', { name: 'External Agent' }).dragTo(page.locator('.react-flow__pane'), target);
    await page.locator('[data-node="external1"]').getByText('External Agent').waitFor();
    await page.locator('[data-panel="external"]').getByText('External A2A-compatible agent').waitFor();
    await palette.getByText('External A2A-compatible agent').waitFor();
  });

  inBrowser(
    'the palette offers node types of plugins, whose panels are made of the schema of their config',
    async () => {
      const workflow = linear(unique('plugin'), input('item'));
      const page = await edit(workflow);
      await page.getByRole('group', { name: 'Plugins' }).getByRole('button', { name: 'quote' }).click();
      await page.locator('[data-node="quote1"]').waitFor();
      const panel = page.locator('[data-panel="quote"]');
      await panel.getByText('Says what an item costs.').waitFor();
      await panel.getByText('Percent that are taken off.').waitFor();
      await panel.getByLabel('Prompt').fill('tea');
      await panel.getByLabel('Discount').fill('10');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Not saved').waitFor({ state: 'detached' });
      expect((await saved(workflow.name)).nodes[1]).toMatchObject({
        type: 'quote',
        config: { prompt: 'tea', discount: 10 },
      });
      expect(await seriousFaults(page)).toEqual([]);
    },
  );

  inBrowser('row G2: an external agent is a purple globe, on the canvas and in its panel', async () => {
    const page = await edit(linear(unique('globe'), external('ext', 'http://127.0.0.1:1')));
    const node = page.locator('[data-node="ext"]');
    await node.click();
    const classes = (await node.getAttribute('class'))?.split(' ');
    for (const name of ['border-purple-500/50', 'bg-purple-500/10']) expect(classes).toContain(name);
    expect(classes).toContain('shadow-[0_0_16px_oklch(0.553_0.235_303.4/0.4)]');
    expect(await node.locator('svg.lucide-globe').count()).toBe(1);
    expect(await node.locator('.bg-purple-500.text-white').count()).toBe(1);
    expect(await page.locator('[data-panel="external"] .bg-purple-500.text-white svg.lucide-globe').count()).toBe(1);
  });

  inBrowser('row G3: the endpoint and the timeout of an external agent, as they are saved', async () => {
    const workflow = linear(unique('fields'), external('ext', 'http://127.0.0.1:1', { timeout: 12 }));
    const page = await edit(workflow);
    await page.locator('[data-node="ext"]').click();
    const endpoint = page.getByLabel('Endpoint URL');
    const timeout = page.getByLabel('Timeout (seconds)');
    expect(await endpoint.getAttribute('placeholder')).toBe('https://agent.example.com/a2a');
    expect([await timeout.inputValue(), await timeout.getAttribute('min')]).toEqual(['12', '1']);
    await endpoint.fill('http://127.0.0.1:2/a2a');
    await timeout.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    expect((await saved(workflow.name)).nodes[0]?.config).toEqual({
      endpoint_url: 'http://127.0.0.1:2/a2a',
      timeout: 30,
    });
  });

  inBrowser('a prompt completes references, and warns of unknown ones', async () => {
    const page = await edit(linear(unique('prompt'), input('question'), output('out')));
    await page.locator('[data-node="out"]').click();
    const prompt = page.getByLabel('Prompt');
    await prompt.pressSequentially('Say {{qu');
    await page.getByRole('option', { name: 'question' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await prompt.innerText()).toBe('Say {{question}}');
    await prompt.pressSequentially(' {{nobody}}');
    await page.getByText('No node is called {{nobody}}').waitFor();
    await prompt.pressSequentially(' {{');
    const offered = page.getByRole('listbox', { name: 'Nodes' }).getByRole('option');
    await offered.first().waitFor();
    // Every node but the one whose prompt it is.
    expect(await offered.allInnerTexts()).toEqual(['question']);
  });

  inBrowser('connects, deletes, undoes and redoes, and moves nodes with the keyboard alone', async () => {
    const workflow = { ...linear(unique('keys'), input('in'), output('out')), edges: [] };
    const page = await edit(workflow);
    await page.locator('.react-flow__node[data-id="out"]').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: 'in' }).check();
    await page.locator('.react-flow__edge').waitFor({ state: 'attached' });
    await page.locator('.react-flow__node[data-id="in"]').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Delete');
    await page.locator('[data-node="in"]').waitFor({ state: 'detached' });
    await undo(page).click();
    await page.locator('[data-node="in"]').waitFor();
    await page.locator('.react-flow__edge').waitFor({ state: 'attached' });
    await undo(page).click();
    await page.locator('.react-flow__edge').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Redo' }).click();
    await page.locator('.react-flow__edge').waitFor({ state: 'attached' });
  });

  inBrowser('keeps a node where it is dragged, in a workflow that was never drawn', async () => {
    const workflow = linear(unique('drags'), input('in'), output('out'));
    const page = await edit(workflow);
    const node = page.locator('[data-node="out"]');
    // Waits until it stands still.
    await node.hover({ position: { x: 60, y: 10 } });
    const box = await node.boundingBox();
    if (!box) throw new Error('The node has no place');
    await page.mouse.down();
    await page.mouse.move(box.x + 60, box.y + 160, { steps: 8 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    const [first, second] = (await saved(workflow.name)).nodes.map(({ position }) => position?.y ?? Number.NaN);
    expect(second! - first!).toBeGreaterThan(60);
    await page.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
    await page.keyboard.press('Control+z');
    await page.getByText('Not saved').waitFor();
  });

  inBrowser('goes on where it was when a new workflow is saved', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows/new`);
    const name = unique('new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('group', { name: 'Node types' }).getByRole('button', { name: 'User Input' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(`**/workflows/edit/${name}`);
    await page.locator('[data-panel="input"]').waitFor();
    await undo(page).click();
    await page.locator('[data-node="input1"]').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete workflow' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/workflows');
    expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(404);
  });

  inBrowser('shows what a refused save is about on the node', async () => {
    const workflow = linear(unique('refused'), input('in'), external('ext', 'http://127.0.0.1:1'));
    const page = await edit(workflow);
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Endpoint URL').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The workflow was not saved:').waitFor();
    await page.locator('[data-node="ext"] [aria-label*="missing endpoint_url config"]').waitFor();
    await page.locator('[data-node="in"]').click();
    await page.getByRole('button', { name: 'external node "ext": missing endpoint_url config' }).click();
    await page.locator('[data-panel="external"]').getByText('missing endpoint_url config').waitFor();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:2');
    await page.getByText('The workflow was not saved:').waitFor({ state: 'detached' });
  });

  inBrowser('chooses a registered agent for an external node, and media types for the workflow', async () => {
    const agent = await stage.fake();
    const { name: agentName } = await openDoor(stage.parley.url, agent.url);
    const workflow = linear(unique('registered'), input('in'), external('ext', 'http://127.0.0.1:1', { timeout: 30 }));
    const page = await edit(workflow);
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Credential').fill('key');
    await page.getByLabel('Registered agent').selectOption(agentName);
    await page.getByLabel('Endpoint URL').waitFor({ state: 'detached' });
    await page.getByLabel('Skill').fill('echo');
    await page.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
    await page.getByRole('button', { name: 'How it runs' }).click();
    await page.getByLabel('Media types').fill('text/plain, image/*');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    const { nodes, ...rest } = await saved(workflow.name);
    expect(nodes[1]?.config).toEqual({ agent: agentName, skill: 'echo' });
    expect(rest).toMatchObject({ inputModes: ['text/plain', 'image/*'] });
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Registered agent').selectOption('');
    await page.getByLabel('Endpoint URL').waitFor();
    await page.getByLabel('Skill').waitFor({ state: 'detached' });
  });

  inBrowser('gives a node no id that another one has, or that no node can have', async () => {
    const workflow = linear(unique('ids'), input('a'), input('b'), output('c'));
    const page = await edit(workflow);
    await page.locator('[data-node="b"]').click();
    const id = page.getByLabel('Id', { exact: true });
    await id.fill('a');
    await id.press('Enter');
    await page.getByRole('alert').getByText('Another node has this id').waitFor();
    await id.fill('two words');
    await page.getByRole('alert').getByText('letters, digits').waitFor();
    await id.fill('z');
    await id.press('Enter');
    await page.locator('[data-node="z"]').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    const { nodes, edges } = await saved(workflow.name);
    expect(nodes.map((node) => node.id)).toEqual(['a', 'z', 'c']);
    expect(edges).toEqual([
      { from: 'a', to: 'z' },
      { from: 'z', to: 'c' },
    ]);
  });

  inBrowser('a type that is clicked follows the selected node', async () => {
    const page = await edit(linear(unique('follows'), input('in')));
    await page.locator('[data-node="in"]').click();
    const palette = page.getByRole('group', { name: 'Node types' });
    await palette.getByRole('button', { name: 'Agent', exact: true }).click();
    await page.locator('[data-node="agent1"]').waitFor();
    await palette.getByRole('button', { name: 'Output' }).click();
    await page.locator('[data-node="output1"]').waitFor();
    await page.locator('.react-flow__edge').nth(1).waitFor({ state: 'attached' });
    expect(await page.locator('.react-flow__edge').count()).toBe(2);
    const isInView = async (): Promise<boolean> => {
      const [pane, node] = await Promise.all(
        ['.react-flow__pane', '[data-node="output1"]'].map((it) => page.locator(it).boundingBox()),
      );
      return node!.x >= pane!.x && node!.x < pane!.x + pane!.width;
    };
    await until(isInView, { what: 'the node to be in view' });
  });

  inBrowser('shows a large workflow whole, with a map, and finds a node of it', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => ({
      ...external(`n${index}`, 'http://127.0.0.1:1'),
      position: { x: (index % 25) * 300, y: Math.floor(index / 25) * 150 },
    }));
    const page = await edit({ name: unique('large'), nodes: rows, edges: [] });
    await page.locator('[data-node="n99"]').waitFor();
    await until(async () => (await page.locator('[data-node]').count()) === 100, { what: 'all nodes to be drawn' });
    const isWhole = async (): Promise<boolean> => {
      const pane = await page.locator('.react-flow__pane').boundingBox();
      const ends = [page.locator('[data-node="n0"]'), page.locator('[data-node="n99"]')];
      const boxes = await Promise.all(ends.map((it) => it.boundingBox()));
      return boxes.every((box) => box !== null && pane !== null && isWithin(box, pane));
    };
    await until(isWhole, { what: 'the first and the last node to be in view' });
    await page.getByRole('img', { name: 'Map of the workflow' }).waitFor();
    await page.getByLabel('Find a node').fill('n73');
    await page.keyboard.press('Enter');
    await page.locator('[data-panel="external"]').waitFor();
    expect(await page.getByLabel('Id', { exact: true }).inputValue()).toBe('n73');
  });

  inBrowser('shows what the service warns of in a workflow that it took', async () => {
    const workflow = linear(
      unique('warned'),
      input('in'),
      external('ext', 'http://127.0.0.1:1', { prompt: '{{nope}}' }),
    );
    const page = await edit(workflow);
    await page.locator('[data-node="ext"]').click();
    await page.getByLabel('Timeout (seconds)').fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    const told = page.getByRole('status').filter({ hasText: 'The workflow was saved' });
    await told.getByRole('button', { name: 'external node "ext": {{nope}} names no node' }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
  });

  inBrowser('checks a workflow again where the service was not ready', async () => {
    const { name } = await stage.api.save(
      linear(unique('unready'), external('ext', 'http://127.0.0.1:1', { prompt: '{{nope}}' })),
    );
    const page = await browser.open(`${stage.parley.url}/workflows`);
    await page.route('**/api/workflows/check', (route) => route.fulfill({ status: 503, body: '' }), { times: 1 });
    await page.goto(`${stage.parley.url}/workflows/edit/${name}`);
    await page.getByRole('button', { name: '1 warning' }).waitFor();
  });

  inBrowser('row E9: shows the card of an external agent, and what is wrong with it', async () => {
    const fake = await stage.fake();
    const page = await edit(linear(unique('card'), external('ext', fake.url)));
    await page.locator('[data-node="ext"]').click();
    await page.getByRole('button', { name: 'Show the agent card' }).click();
    await page.getByRole('region', { name: 'Agent card' }).getByText('The whole card').waitFor();
    await page.getByLabel('Endpoint URL').fill('http://127.0.0.1:1');
    await page.getByRole('button', { name: 'Show the agent card' }).click();
    await page.getByRole('region', { name: 'Agent card' }).getByRole('listitem').waitFor();
  });

  inBrowser('tidies up, keeps places, and has nothing serious for an accessibility checker', async () => {
    const workflow = linear(unique('tidy'), input('in'), external('ext', 'http://127.0.0.1:1'), output('out'));
    await stage.api.save(workflow);
    for (const [theme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const) {
      const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`, { theme, width });
      await page.locator('[data-node="ext"]').click();
      expect(await seriousFaults(page)).toEqual([]);
      if (width !== 1280 || theme !== 'light') continue;
      await page.getByRole('button', { name: 'Tidy up' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Not saved').waitFor({ state: 'detached' });
      const places = (await saved(workflow.name)).nodes.map(({ position }) => position?.x ?? Number.NaN);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      await page.goto(`${stage.parley.url}/workflows`);
      await page.getByRole('link', { name: workflow.name }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    }
  });
});

type Box = Record<'x' | 'y' | 'width' | 'height', number>;

function isWithin(inner: Box, outer: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}
