import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { copied, drawEdge, nodeOf } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique, type Workflow } from '../support/workflow.js';

/** A definition that says something of everything. */
const whole = (name: string): Workflow =>
  ({
    name,
    language: 2,
    deadline: '2h',
    parallel: 20,
    onExit: [{ node: 'notify', on: 'failure' }],
    nodes: [
      { id: 'brief', type: 'input', config: { schema: { type: 'string' }, default: 'x' } },
      {
        id: 'draft',
        type: 'agent',
        config: { prompt: "{{brief}} ${iteration > 1 ? nodes.review.text : ''}" },
        timeout: '2m',
        retry: { attempts: 4, on: ['timeout'] },
        fallback: { parts: [{ text: 'none' }] },
      },
      { id: 'review', type: 'agent', config: { prompt: '{{draft}}' }, output: { parse: true } },
      { id: 'shape', type: 'set', config: { values: { parts: '${nodes.review.data.parts}', count: 3 } } },
      {
        id: 'translate',
        type: 'agent',
        config: { prompt: '${item}' },
        each: { items: 'nodes.shape.data.parts', onFailure: 'collect', minSuccess: '80%' },
      },
      {
        id: 'gate',
        type: 'human',
        branch: 'first',
        config: {
          prompt: 'Publish?',
          assignee: 'editors',
          form: { type: 'object', properties: { decision: { enum: ['yes', 'no'] } }, required: ['decision'] },
        },
        onWait: { deadline: '48h', default: { decision: 'no' } },
      },
      { id: 'pause', type: 'wait', config: { for: '1m' } },
      { id: 'publish', type: 'agent', config: { prompt: 'Published' } },
      { id: 'done', type: 'output', join: { n: 1, cancelRest: true }, config: {} },
      { id: 'alarm', type: 'output', config: {} },
      { id: 'notify', type: 'agent', config: { prompt: 'It failed' } },
    ],
    edges: [
      { from: 'brief', to: 'draft' },
      { from: 'draft', to: 'review' },
      { from: 'review', to: 'draft', loop: { max_iterations: 3, exit_when: 'nodes.review.data.ok' } },
      { from: 'review', to: 'shape' },
      { from: 'shape', to: 'translate' },
      { from: 'translate', to: 'gate' },
      { from: 'gate', to: 'pause', when: "nodes.gate.data.decision == 'yes'" },
      { from: 'gate', to: 'done' },
      { from: 'pause', to: 'publish' },
      { from: 'publish', to: 'done' },
      { from: 'publish', to: 'alarm', on: 'failure' },
    ],
  }) as unknown as Workflow;

describe('the editor of the language', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const edit = async (workflow: Workflow): Promise<Page> => {
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`, { width: 1600 });
    await page.locator('[data-node]').first().waitFor();
    return page;
  };
  const saved = async (name: string) => (await stage.api.call<Workflow>('GET', `/workflows/${name}`)).body;
  const save = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
  };
  const add = (page: Page, type: string, x: number, y: number): Promise<void> =>
    page.locator(`[data-palette="${type}"]`).dragTo(page.locator('.react-flow__pane'), { targetPosition: { x, y } });
  const open = (page: Page, section: string) => page.getByRole('button', { name: section }).click();
  const edge = (page: Page, id: string) => page.locator(`.react-flow__edge[data-id="${id}"]`);
  const badges = (page: Page, id: string) => nodeOf(page, id).locator('[data-badge]').allInnerTexts();

  inBrowser('draws what a definition says of how nodes and edges run', async () => {
    const page = await edit(whole(unique('drawn')));
    await page.locator('[data-loop="review->draft"]').waitFor({ state: 'attached' });
    expect(await page.locator('[data-edge-label="review->draft"]').innerText()).toBe(
      'up to 3× until nodes.review.data.ok',
    );
    expect(await page.locator('[data-edge-label="gate->pause"]').innerText()).toBe("nodes.gate.data.decision == 'yes'");
    expect(await page.locator('[data-edge-label="gate->done"]').innerText()).toBe('else');
    const dashed = edge(page, 'gate->done').locator('path.react-flow__edge-path');
    expect(await dashed.getAttribute('style')).toContain('stroke-dasharray');
    const failure = edge(page, 'publish->alarm').locator('path.react-flow__edge-path');
    expect(await failure.getAttribute('style')).toContain('--destructive');
    expect(await edge(page, 'publish->alarm').getAttribute('aria-label')).toBe('From publish to alarm, on failure');
    expect(await badges(page, 'draft')).toEqual(['4×', '2m', 'fallback']);
    expect(await badges(page, 'translate')).toEqual(['each']);
    expect(await badges(page, 'done')).toEqual(['any']);
    expect(await badges(page, 'notify')).toEqual(['at the end']);
  });

  inBrowser('keeps everything that a definition says, through a save and through JSON', async () => {
    const workflow = whole(unique('kept'));
    const page = await edit(workflow);
    await page.getByLabel('Description').fill('Changed');
    await save(page);
    const { nodes, edges, ...rest } = (await saved(workflow.name)) as Workflow & Record<string, unknown>;
    expect(nodes.map(({ position: _position, ...node }) => node)).toEqual(
      (workflow.nodes as object[]).map((node) => ({ config: {}, ...node })),
    );
    expect(edges).toEqual(workflow.edges);
    expect(rest).toMatchObject({
      language: 2,
      deadline: '2h',
      parallel: 20,
      onExit: [{ node: 'notify', on: 'failure' }],
    });

    await page.getByRole('button', { name: 'JSON' }).click();
    const text = page.getByRole('textbox', { name: 'Definition' });
    const definition = JSON.parse(await copied(page.getByRole('button', { name: 'Copy all of it' }))) as Workflow;
    expect(definition.edges).toEqual(workflow.edges);
    await text.fill('{"nodes": 1}');
    await page.getByRole('button', { name: 'Use this' }).click();
    await page.getByText('It has no list of nodes.').waitFor();
    const other = {
      ...definition,
      nodes: definition.nodes.slice(0, 3),
      edges: definition.edges.slice(0, 3),
      onExit: [],
    };
    await text.fill(JSON.stringify(other));
    await page.getByRole('button', { name: 'Use this' }).click();
    await nodeOf(page, 'gate').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await nodeOf(page, 'gate').waitFor();
  });

  inBrowser('offers a loop for an edge that is drawn back', async () => {
    const name = unique('loops');
    const page = await browser.open(`${stage.parley.url}/workflows/new`, { width: 1600 });
    await page.getByLabel('Name', { exact: true }).fill(name);
    for (const [index, type] of ['input', 'agent', 'set', 'output'].entries()) {
      await add(page, type, 120 + index * 230, 200);
    }
    await drawEdge(page, 'input1', 'agent1');
    await drawEdge(page, 'agent1', 'set1');
    await drawEdge(page, 'set1', 'output1');
    await nodeOf(page, 'set1').locator('.source').hover();
    await page.mouse.down();
    await nodeOf(page, 'agent1').locator('.target').hover();
    await page.mouse.up();
    const dialog = page.getByRole('dialog', { name: 'Make this a loop?' });
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    expect(await page.locator('[data-loop]').count()).toBe(0);
    await nodeOf(page, 'set1').locator('.source').hover();
    await page.mouse.down();
    await nodeOf(page, 'agent1').locator('.target').hover();
    await page.mouse.up();
    await dialog.getByLabel('Iterations at most').fill('5');
    await dialog.getByLabel('Until').fill('iteration >= 2');
    await dialog.getByRole('button', { name: 'Make a loop' }).click();
    await page.locator('[data-loop="set1->agent1"]').waitFor({ state: 'attached' });
    await page.getByText('Repeats agent1, set1.').waitFor();
    await page.getByRole('button', { name: 'loop from set1 back to agent1' }).click();
    await page.locator('[data-panel="edge"]').waitFor();
    await save(page);
    expect((await saved(name)).edges[3]).toEqual({
      from: 'set1',
      to: 'agent1',
      loop: { max_iterations: 5, exit_when: 'iteration >= 2' },
    });
  });

  inBrowser('sets what an edge is taken for, checked while it is typed', async () => {
    const workflow = whole(unique('edges'));
    const page = await edit(workflow);
    // Where the service is not ready, it is asked again.
    await page.route('**/api/expressions/check', (route) => route.fulfill({ status: 503, body: '' }), { times: 1 });
    await page.locator('[data-edge-label="gate->pause"]').click();
    const when = page.getByLabel('Only when');
    await page.locator('[data-expression="valid"]').waitFor();
    await when.fill('nodes.nobody.data.ok');
    await page.locator('[data-expression="invalid"]').getByText('nobody').first().waitFor();
    await when.fill('');
    await when.pressSequentially('nodes.ga');
    await page.getByRole('option', { name: 'gate' }).waitFor();
    // Both in one frame, as of somebody who types fast.
    await when.evaluate((area) => {
      const { KeyboardEvent } = area.ownerDocument.defaultView!;
      area.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
      area.ownerDocument.execCommand('insertText', false, '.data.');
    });
    await when.pressSequentially("decision == 'no'");
    await page.locator('[data-expression="valid"]').waitFor();
    await page.getByLabel('After gate').selectOption('always');
    await save(page);
    expect((await saved(workflow.name)).edges[6]).toEqual({
      from: 'gate',
      to: 'pause',
      when: "nodes.gate.data.decision == 'no'",
      on: 'always',
    });
  });

  inBrowser('shows what is wrong at the node and the edge that it is about, before anything is saved', async () => {
    const page = await edit(whole(unique('wrong')));
    await page.locator('[data-edge-label="gate->pause"]').click();
    await page.getByLabel('Only when').fill('nodes.gate.data.decision ==');
    const problems = page.getByRole('region', { name: 'Problems' });
    await problems.getByRole('button', { name: 'error' }).click();
    await page.locator('[data-edge-label="gate->pause"]', { hasText: '⚠' }).waitFor();
    await nodeOf(page, 'pause').click();
    await problems.getByRole('button', { name: /character \d+/ }).click();
    await page.locator('[data-panel="edge"]').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await problems.waitFor({ state: 'detached' });
  });

  inBrowser('sets how a node starts, repeats, fails and waits', async () => {
    const workflow = whole(unique('panel'));
    const page = await edit(workflow);
    await nodeOf(page, 'publish').click();
    await open(page, 'When it fails');
    await page.getByLabel('Time for one attempt').fill('90');
    await page.getByText('A number with ms, s, m, h or d').waitFor();
    await page.getByLabel('Time for one attempt').fill('90s');
    await page.getByLabel('Try again').check();
    await page.getByLabel('Attempts in all').fill('5');
    await page.getByLabel('its work failed').check();
    await page.getByLabel('First pause').fill('2s');
    await page.getByLabel('Use a fallback').check();
    await page.getByRole('textbox', { name: 'Fallback' }).fill('Not today');
    await open(page, 'For each entry');
    await page.getByLabel('Once for each entry of a list').check();
    await page.getByRole('textbox', { name: 'List' }).fill('inputs.brief');
    await page.getByLabel('At once').fill('3');
    await open(page, 'Required output');
    await page.getByLabel('Read JSON out of its text').check();
    await nodeOf(page, 'done').click();
    await open(page, 'When it starts');
    await page.getByLabel('Starts').selectOption('some');
    await save(page);
    const { nodes } = await saved(workflow.name);
    expect(nodes.find(({ id }) => id === 'publish')).toMatchObject({
      timeout: '90s',
      retry: {
        attempts: 5,
        on: ['connect', 'timeout', 'server-error', 'rate-limited', 'overloaded', 'failed'],
        delay: '2s',
      },
      fallback: { parts: [{ text: 'Not today' }] },
      each: { items: 'inputs.brief', concurrency: 3 },
      output: { parse: true },
    });
    expect(nodes.find(({ id }) => id === 'done')).toMatchObject({ join: { n: 2, cancelRest: true } });
  });

  inBrowser('builds a form for a person, and connects, chooses and repeats with the keyboard alone', async () => {
    const name = unique('form');
    const page = await browser.open(`${stage.parley.url}/workflows/new`, { width: 1600 });
    await page.getByLabel('Name', { exact: true }).fill(name);
    for (const type of ['input', 'human', 'output']) await page.locator(`[data-palette="${type}"]`).press('Enter');
    await page.locator('.react-flow__node[data-id="human1"]').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Question').fill('Publish {{input1}}?');
    await page.getByLabel('Assignee').fill('editors');
    await page.getByLabel('Answer', { exact: true }).selectOption('fields');
    await page.getByRole('button', { name: 'Add a field' }).press('Enter');
    await page.getByLabel('Field name').fill('decision');
    await page.getByLabel('Kind').selectOption('choice');
    await page.getByLabel('Choices').fill('yes\nno');
    await page.getByRole('checkbox', { name: 'input1' }).check();
    await open(page, 'Without an answer');
    await page.getByLabel('Limit the wait for an answer').check();
    await page.getByLabel('Answer within').fill('2d');
    await page.getByLabel('Then answer by default').check();
    await page.getByRole('radio', { name: 'no' }).check();
    await open(page, 'Next nodes');
    await page.getByLabel('Go on to').selectOption('output1');
    await page.getByRole('list', { name: 'Edges' }).getByRole('button', { name: 'output1' }).press('Enter');
    await page.getByLabel('Only when').fill("nodes.human1.data.decision == 'yes'");
    await page.getByRole('button', { name: 'human1', exact: true }).press('Enter');
    await open(page, 'Next nodes');
    await page.getByLabel('Go back to').selectOption('human1');
    await page.locator('[data-panel="edge"]').getByText('Repeats human1.').waitFor();
    await save(page);
    const { nodes, edges } = await saved(name);
    expect(nodes[1]).toMatchObject({
      config: {
        prompt: 'Publish {{input1}}?',
        assignee: 'editors',
        form: {
          type: 'object',
          properties: { decision: { type: 'string', enum: ['yes', 'no'] } },
          required: ['decision'],
        },
      },
      onWait: { deadline: '2d', default: { decision: 'no' } },
    });
    expect(edges).toEqual([
      { from: 'input1', to: 'human1' },
      { from: 'human1', to: 'output1', when: "nodes.human1.data.decision == 'yes'" },
      { from: 'human1', to: 'human1', loop: { max_iterations: 3 } },
    ]);
  });

  inBrowser('picks a child workflow with its revision and inputs, and makes values', async () => {
    const child = await stage.api.save({
      name: unique('child'),
      nodes: [
        { id: 'text', type: 'input' },
        { id: 'out', type: 'output' },
      ],
      edges: [{ from: 'text', to: 'out' }],
    });
    const workflow = { ...whole(unique('parent')), nodes: [], edges: [], onExit: [] } as unknown as Workflow;
    const page = await browser.open(`${stage.parley.url}/workflows/new`, { width: 1600 });
    await page.getByLabel('Name', { exact: true }).fill(workflow.name);
    await open(page, 'How it runs');
    await page.getByLabel('Expressions in texts').check();
    await page.getByLabel('Deadline of a run').fill('2h');
    await add(page, 'set', 150, 200);
    await page.getByLabel('New value').fill('greeting');
    await page.getByRole('button', { name: 'Add value' }).click();
    await page.getByRole('textbox', { name: 'greeting' }).fill("${'Hello'}");
    await add(page, 'workflow', 420, 300);
    await page.getByRole('combobox', { name: 'Workflow', exact: true }).fill(child.name);
    await page.getByRole('combobox', { name: 'Workflow', exact: true }).press('Enter');
    await page.getByRole('link', { name: `Open ${child.name}` }).waitFor();
    const newest = page.getByLabel('Revision').locator('option').nth(1);
    const revision = (await newest.getAttribute('value')) ?? '';
    await page.getByLabel('Revision').selectOption(revision);
    await page.getByLabel('Set its inputs').check();
    await page.getByRole('textbox', { name: 'text', exact: true }).fill('${nodes.set1.data.greeting}');
    await drawEdge(page, 'set1', 'workflow1');
    await save(page);
    const { nodes, ...rest } = await saved(workflow.name);
    expect(rest).toMatchObject({ language: 2, deadline: '2h' });
    expect(nodes.map(({ config }) => config)).toEqual([
      { values: { greeting: "${'Hello'}" } },
      { workflow: child.name, revision, inputs: { text: '${nodes.set1.data.greeting}' } },
    ]);
  });

  inBrowser('has nothing serious for an accessibility checker, with every part of its panels open', async () => {
    const page = await edit(whole(unique('axe')));
    for (const [index, id] of ['draft', 'gate', 'translate', 'shape'].entries()) {
      await nodeOf(page, id).click();
      const closed = page.locator('aside button[aria-expanded="false"]');
      while ((await closed.count()) > 0) await closed.first().click();
      await expressionsAreChecked(page);
      expect(await seriousFaultsInEitherTheme(page, index > 0 ? 'aside' : undefined)).toEqual([]);
    }
    await page.locator('[data-edge-label="review->draft"]').click();
    await expressionsAreChecked(page);
    expect(await seriousFaultsInEitherTheme(page, 'aside')).toEqual([]);
    await page.getByRole('button', { name: 'JSON' }).click();
    await page.getByRole('textbox', { name: 'Definition' }).waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });
});

/** What the service says of them appears when it answers, and would appear under the eyes of the checker. */
async function expressionsAreChecked(page: Page): Promise<void> {
  await page.locator('aside .cm-content').first().waitFor();
  const unchecked = page.locator('[data-expression="unchecked"], aside [aria-busy="true"]');
  while ((await unchecked.count()) > 0) await unchecked.first().waitFor({ state: 'detached' });
}
