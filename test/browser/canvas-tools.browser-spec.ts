import type { Locator, Page } from 'playwright-core';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { nodeOf } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { unique, type Workflow } from '../support/workflow.js';

const WINDOW = { width: 1440, height: 900 };
const NODES = [
  { id: 'topic', type: 'input', config: {}, position: { x: 0, y: 0 } },
  { id: 'writer', type: 'agent', config: { prompt: '{{topic}}' }, position: { x: 300, y: 0 } },
  {
    id: 'critic',
    type: 'agent',
    config: { prompt: '{{writer}} of {{topic}}: ${nodes.writer.text}' },
    position: { x: 600, y: 0 },
  },
];
const EDGES = [
  { from: 'topic', to: 'writer' },
  { from: 'writer', to: 'critic', when: "nodes.writer.text != ''" },
];

describe('the tools of the canvas', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const edit = async (more: object = {}): Promise<{ page: Page; name: string }> => {
    const name = unique('tools');
    await stage.api.save({ name, language: 2, nodes: NODES, edges: EDGES, ...more } as Workflow);
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${name}`, WINDOW);
    await standsStill(nodeOf(page, 'critic'));
    return { page, name };
  };
  const stored = async (name: string): Promise<Workflow> =>
    (await stage.api.call<Workflow>('GET', `/workflows/${name}`)).body;
  const save = async (page: Page, name: string): Promise<Workflow> => {
    await page.keyboard.press('Control+s');
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    return stored(name);
  };

  inBrowser(
    'selects by a box and by Ctrl- and Shift-click, and moves, copies, pastes and deletes by mouse',
    async () => {
      const { page, name } = await edit();
      await boxAround(page, nodeOf(page, 'writer'), nodeOf(page, 'critic'));
      await selectionIs(page, ['writer', 'critic']);
      await page.locator('.react-flow__pane').click({ position: { x: 20, y: 500 } });
      await selectionIs(page, []);
      await nodeOf(page, 'writer').click();
      await nodeOf(page, 'critic').click({ modifiers: ['Control'] });
      await selectionIs(page, ['writer', 'critic']);
      await nodeOf(page, 'topic').click({ modifiers: ['Shift'] });
      await selectionIs(page, ['topic', 'writer', 'critic']);
      await nodeOf(page, 'topic').click({ modifiers: ['Control'] });
      await selectionIs(page, ['writer', 'critic']);
      await page.getByRole('complementary', { name: 'Properties' }).getByText('2 nodes').waitFor();

      await chooseInMenu(page, nodeOf(page, 'critic'), 'Copy');
      await page.getByText('2 nodes copied', { exact: true }).waitFor({ state: 'attached' });
      await page.locator('.react-flow__pane').click({ button: 'right', position: { x: 200, y: 600 } });
      await page.getByRole('menuitem', { name: 'Paste here' }).click();
      await nodeOf(page, 'critic2').waitFor();
      await selectionIs(page, ['writer2', 'critic2']);
      await standsStill(nodeOf(page, 'writer2'));
      const before = await placesOf(page, ['writer2', 'critic2', 'writer']);
      await dragBy(page, nodeOf(page, 'writer2'), 60, 40);
      await until(
        async () => {
          const [one, two, other] = await placesOf(page, ['writer2', 'critic2', 'writer']);
          return one !== before[0] && two !== before[1] && other === before[2];
        },
        { what: 'both selected nodes to move' },
      );
      const { nodes, edges } = await save(page, name);
      expect(nodes.slice(3)).toMatchObject([
        { id: 'writer2', config: { prompt: '{{topic}}' } },
        { id: 'critic2', config: { prompt: '{{writer2}} of {{topic}}: ${nodes.writer2.text}' } },
      ]);
      expect(edges.slice(2)).toEqual([{ from: 'writer2', to: 'critic2', when: "nodes.writer2.text != ''" }]);
      await chooseInMenu(page, nodeOf(page, 'writer2'), 'Delete');
      await nodeOf(page, 'writer2').waitFor({ state: 'detached' });
      expect(await page.locator('[data-node]').count()).toBe(3);
    },
  );

  inBrowser(
    'selects, copies, pastes between tabs, duplicates, moves, deletes and saves by keyboard alone',
    async () => {
      const { page, name } = await edit();
      await page.locator('.react-flow__node[data-id="writer"]').focus();
      await page.keyboard.press('Enter');
      await page.locator('.react-flow__node[data-id="critic"]').focus();
      await page.keyboard.press('Control+Enter');
      await selectionIs(page, ['writer', 'critic']);
      await page.keyboard.press('Control+c');
      await page.keyboard.press('Control+v');
      await nodeOf(page, 'critic2').waitFor();
      await selectionIs(page, ['writer2', 'critic2']);
      await page.keyboard.press('Control+z');
      await nodeOf(page, 'critic2').waitFor({ state: 'detached' });
      expect(await page.locator('[data-node]').count()).toBe(3);

      const other = await page.context().newPage();
      await other.goto(`${stage.parley.url}/workflows/new`);
      await other.getByLabel('Name', { exact: true }).fill(unique('other'));
      await other.locator('.react-flow__controls-zoomin').focus();
      await other.keyboard.press('Control+v');
      await nodeOf(other, 'critic').waitFor();
      await other.close();

      await page.keyboard.press('Control+a');
      await selectionIs(page, ['topic', 'writer', 'critic']);
      await page.keyboard.press('Control+d');
      await selectionIs(page, ['topic2', 'writer2', 'critic2']);
      await page.keyboard.press('Control+x');
      await nodeOf(page, 'topic2').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+v');
      await selectionIs(page, ['topic2', 'writer2', 'critic2']);
      await page.keyboard.press('Delete');
      await nodeOf(page, 'topic2').waitFor({ state: 'detached' });
      await page.locator('.react-flow__node[data-id="topic"]').focus();
      await page.keyboard.press('Control+a');
      await selectionIs(page, ['topic', 'writer', 'critic']);
      await page.keyboard.press('ArrowDown');
      const { nodes } = await save(page, name);
      expect(nodes.map(({ id }) => id)).toEqual(['topic', 'writer', 'critic']);
      expect(nodes.every((node) => (node as unknown as (typeof NODES)[number]).position.y > 0)).toBe(true);
    },
  );

  inBrowser('leaves the keys of text fields alone, except for saving', async () => {
    const { page, name } = await edit();
    await nodeOf(page, 'writer').click();
    const prompt = page.getByLabel('Prompt', { exact: true });
    await prompt.click();
    for (const key of [
      'Control+a',
      'Control+c',
      'Control+d',
      '?',
      'Delete',
      'Backspace',
      'Control+v',
      'Escape',
      'Control+x',
    ])
      await page.keyboard.press(key);
    const search = page.getByLabel('Search node types');
    await search.fill('x');
    for (const key of ['Control+a', 'Control+x', 'Control+v', '?', 'Delete']) await page.keyboard.press(key);
    expect(await page.locator('[data-node]').count()).toBe(3);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await prompt.fill('{{topic}} again');
    expect((await save(page, name)).nodes[1]?.config).toEqual({ prompt: '{{topic}} again' });
  });

  inBrowser('says why a text cannot be pasted, and changes nothing', async () => {
    const { page } = await edit();
    const pane = page.locator('.react-flow__pane');
    for (const [text, sentence] of [
      ['a shopping list', 'The clipboard has no nodes: copy them on the canvas of a workflow first.'],
      ['{"kind":"parley/canvas","nodes":[{"id":5}]}', 'The copied part is damaged: nodes[0] needs'],
      ['x'.repeat(300_000), 'The clipboard has 300000 characters; at most 262144 can be pasted.'],
    ] as const) {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await pane.click({ position: { x: 20, y: 500 } });
      await page.keyboard.press('Control+v');
      const alert = page.getByRole('alert').filter({ hasText: sentence });
      await alert.waitFor();
      await alert.getByRole('button', { name: 'Dismiss' }).click();
      await alert.waitFor({ state: 'detached' });
    }
    expect(await page.locator('[data-node]').count()).toBe(3);
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
  });

  inBrowser('pastes what this tab copied where the browser denies the clipboard', async () => {
    const { page } = await edit();
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await chooseInMenu(page, nodeOf(page, 'writer'), 'Copy');
    await page.getByText('1 node copied for this tab').waitFor({ state: 'attached' });
    await page.locator('.react-flow__pane').click({ button: 'right', position: { x: 200, y: 600 } });
    await page.getByRole('menuitem', { name: 'Paste here' }).click();
    await nodeOf(page, 'writer2').waitFor();
  });

  inBrowser('has a menu for the menu key, a command palette, a help of the keys, and a search for types', async () => {
    const { page } = await edit();
    await page.locator('.react-flow__node[data-id="writer"]').focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menu', { name: 'Node writer' }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    // The menu gives the focus back after it has closed.
    await page.locator('.react-flow__node[data-id="writer"]:focus').waitFor();
    await page.locator('.react-flow__edge').first().focus();
    await page.keyboard.press('ContextMenu');
    await page.getByRole('menu', { name: 'Edge topic->writer' }).waitFor();
    await page.getByRole('menuitem', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await until(async () => (await page.locator('.react-flow__edge').count()) === 1, { what: 'one edge to be left' });

    await page.keyboard.press('Shift+F10');
    await page.getByRole('menu', { name: 'Canvas' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });

    await page.keyboard.press('Control+k');
    const find = page.getByRole('combobox', { name: 'Find nodes and actions' });
    await find.fill('critic');
    await page.getByRole('option', { name: 'critic' }).first().waitFor();
    expect(await seriousFaults(page, { within: '[role="dialog"]' })).toEqual([]);
    await page.keyboard.press('Enter');
    await selectionIs(page, ['critic']);
    await page.keyboard.press('Control+k');
    await find.fill('human');
    await page.keyboard.press('Enter');
    await nodeOf(page, 'human1').waitFor();
    await page.keyboard.press('Control+k');
    await find.fill('show the keys');
    await page.keyboard.press('Enter');
    const keys = page.getByRole('dialog', { name: 'Keys of the editor' });
    await keys.getByText('Ctrl+D').waitFor();
    expect(await seriousFaults(page, { within: '[role="dialog"]' })).toEqual([]);
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await keys.waitFor();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });

    const search = page.getByLabel('Search node types');
    await search.fill('another workflow');
    await page.locator('[data-palette]').nth(1).waitFor({ state: 'detached' });
    expect(await page.locator('[data-palette]').allInnerTexts()).toEqual([
      expect.stringContaining('Runs another workflow'),
    ]);
    await search.press('Enter');
    await nodeOf(page, 'workflow1').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  inBrowser('opens another workflow from the command palette, after a question about unsaved changes', async () => {
    const target = unique('target');
    await stage.api.save({ name: target, nodes: [{ id: 'there', type: 'agent', config: {} }], edges: [] } as Workflow);
    const { page } = await edit();
    await nodeOf(page, 'topic').click();
    await page.keyboard.press('Delete');
    await nodeOf(page, 'topic').waitFor({ state: 'detached' });
    const open = async (): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find nodes and actions' }).fill(target);
      await page.getByRole('option', { name: target }).click();
    };
    page.once('dialog', (dialog) => void dialog.dismiss());
    await open();
    await nodeOf(page, 'writer').waitFor();
    page.once('dialog', (dialog) => void dialog.accept());
    await open();
    await nodeOf(page, 'there').waitFor();
    await page.goto(`${stage.parley.url}/workflows/new`);
    await page.getByLabel('Name', { exact: true }).waitFor();
    await open();
    await nodeOf(page, 'there').waitFor();
  });

  inBrowser('keeps notes in the definition, by mouse and by keyboard', async () => {
    const { page, name } = await edit();
    await page.locator('.react-flow__pane').click({ button: 'right', position: { x: 200, y: 600 } });
    await page.getByRole('menuitem', { name: 'Add a note' }).click();
    const field = page.getByRole('complementary', { name: 'Properties' }).locator('textarea:focus');
    await field.waitFor();
    await page.keyboard.type('Ask Mia first');
    await page.locator('[data-note]').getByText('Ask Mia first').waitFor();
    await page.locator('.react-flow__controls-zoomin').focus();
    await page.keyboard.press('Control+k');
    await page.locator('[role="combobox"]:focus').waitFor();
    await page.keyboard.type('add a note');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Note', exact: true }).waitFor();
    await page.locator('[data-note]').nth(1).waitFor();
    await field.waitFor();
    await page.keyboard.type('Second');
    await page.locator('[data-note]').getByText('Second').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    const texts = (workflow: Workflow) =>
      (workflow as unknown as { notes?: { text: string }[] }).notes?.map(({ text }) => text);
    expect(texts(await save(page, name))).toEqual(['Ask Mia first', 'Second']);
    await page.reload();
    await page.locator('[data-note]').nth(1).waitFor();
    await page.locator('.react-flow__node-note').first().focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+d');
    await page.locator('[data-note]').nth(2).waitFor();
    await page.keyboard.press('Delete');
    await page.locator('[data-note]').nth(2).waitFor({ state: 'detached' });
    await page.locator('.react-flow__node-note').first().focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Delete');
    await until(async () => (await page.locator('[data-note]').count()) === 1, { what: 'one note to be left' });
    expect(texts(await save(page, name))).toEqual(['Second']);
    await page.goto(`${stage.parley.url}/runs/${await stage.api.start(name, { topic: 'tea' })}`);
    await page.getByRole('note').getByText('Second').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });
});

/** Waits until exactly these nodes are selected. */
async function selectionIs(page: Page, ids: readonly string[]): Promise<void> {
  const selected = async (): Promise<string[]> =>
    page
      .locator('.react-flow__node.selected')
      .evaluateAll((all) => all.map((it) => it.getAttribute('data-id') ?? '').toSorted());
  const wanted = ids.toSorted().join(' ');
  await until(async () => (await selected()).join(' ') === wanted, { what: `the selection of ${wanted}` });
}

/** Waits until a node is shown, and no longer moved, such as by the fitting of the graph into its canvas. */
async function standsStill(node: Locator): Promise<void> {
  await node.click({ trial: true });
}

async function chooseInMenu(page: Page, part: Locator, item: string): Promise<void> {
  await part.click({ button: 'right' });
  await page.getByRole('menuitem', { name: item }).click();
}

/** Drags a box with Shift, from above the first node to below the last. */
async function boxAround(page: Page, first: Locator, last: Locator): Promise<void> {
  const [from, to] = [await first.boundingBox(), await last.boundingBox()];
  if (!from || !to) throw new Error('a node is not shown');
  await page.keyboard.down('Shift');
  await page.mouse.move(from.x - 15, from.y - 30);
  await page.mouse.down();
  await page.mouse.move(from.x + 20, from.y + 10, { steps: 3 });
  // Not up to the border of the canvas, at which the canvas moves for as long as the pointer is there.
  await page.mouse.move(to.x + to.width / 2, to.y + to.height + 20, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
}

async function dragBy(page: Page, node: Locator, x: number, y: number): Promise<void> {
  const box = await node.boundingBox();
  if (!box) throw new Error('the node is not shown');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + x, box.y + box.height / 2 + y, { steps: 5 });
  await page.mouse.up();
}

/** Returns the place of each node in the window, as text. */
async function placesOf(page: Page, ids: readonly string[]): Promise<string[]> {
  const boxes = await Promise.all(ids.map((id) => nodeOf(page, id).boundingBox()));
  return boxes.map((box) => `${box?.x} ${box?.y}`);
}
