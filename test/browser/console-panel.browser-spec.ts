import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { consoleCount, copied, showsLines } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { type ToldEvent, tellRun, type ToldWorkflow } from '../support/told-run.js';

const COLORS: [string, string][] = [
  ['node.started', 'text-node-agent'],
  ['node.completed', 'text-node-output'],
  ['node.error', 'text-destructive'],
  ['model.request', 'text-purple-500 dark:text-purple-400'],
  ['model.response', 'text-purple-400 dark:text-purple-300'],
  ['tool.call', 'text-node-tool'],
  ['tool.result', 'text-amber-600 dark:text-amber-300'],
  ['a2a.sending', 'text-blue-500 dark:text-blue-400'],
  ['a2a.received', 'text-blue-400 dark:text-blue-300'],
  ['workflow.failed', 'text-destructive font-semibold'],
  ['error', 'text-destructive'],
  ['info', 'text-muted-foreground'],
  ['done', 'text-node-output font-semibold'],
];
const ONE: ToldWorkflow = { nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] };

/** A chain of nodes, each with many events. */
const NODES = 500;
const EVENTS = 10_000;
const LARGE: ToldWorkflow = {
  nodes: Array.from({ length: NODES }, (_, index) => ({ id: `n${index}`, type: 'agent', config: {} })),
  edges: Array.from({ length: NODES - 1 }, (_, index) => ({ from: `n${index}`, to: `n${index + 1}` })),
};

function largeRun(): ToldEvent[] {
  const perNode = EVENTS / NODES;
  const events = LARGE.nodes.flatMap(({ id }): ToldEvent[] => [
    { type: 'node.started', node_id: id, node_type: 'agent', payload: { attempt: 1 } },
    ...Array.from({ length: perNode - 2 }, (_, index) => ({
      type: 'model.response',
      node_id: id,
      output: `word ${index}`,
    })),
    { type: 'node.completed', node_id: id, status: 'completed' },
  ]);
  return [...events.slice(0, EVENTS - 1), { type: 'done', status: 'completed', payload: { status: 'completed' } }];
}

describe('the console panel', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const tell = async (workflow: ToldWorkflow, events: ToldEvent[], theme: 'light' | 'dark' = 'light') => {
    const page = await browser.open('about:blank', { theme });
    await tellRun(page, stage.parley.url, workflow, events);
    await consoleCount(page, events.length);
    return page;
  };

  inBrowser('row G5: every event has its colour, readable in light and dark', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await tell(
        ONE,
        COLORS.map(([type]) => ({ type, node_id: 'a' })),
        theme,
      );
      await page.getByRole('separator').focus();
      for (let press = 0; press < 8; press += 1) await page.keyboard.press('ArrowUp');
      for (const [type, classes] of COLORS) {
        const shown = await page.locator(`[data-line="${type}"] span`).last().getAttribute('class');
        expect([type, shown]).toEqual([type, classes]);
      }
      expect(await seriousFaults(page)).toEqual([]);
    }
  });

  inBrowser('row G6: a line is the message, or the parts in their order, or all of it', async () => {
    const page = await tell(ONE, [
      { type: 'info', message: 'as it is', node_id: 'a' },
      { type: 'node.completed', node_id: 'a', node_type: 'agent', status: 'completed', output: { n: 1 } },
      { type: 'a2a.sending', url: 'http://agent', node_id: 'a' },
      { type: 'tool.result', tool: 't', result: [1], error: 'none', model: 'm' },
      { type: 'done', payload: { more: 1 } },
    ]);
    await showsLines(page, [
      'info as it is',
      'node.completed [a] (agent) status=completed output: {"n":1}',
      'a2a.sending [a] → http://agent',
      'tool.result model=m tool=t error: none result: [1]',
      'done {"more":1}',
    ]);
  });

  inBrowser('filters by node and type, searches, and copies what is shown', async () => {
    const page = await tell(ONE, [
      { type: 'node.started', node_id: 'a' },
      { type: 'node.started', node_id: 'b' },
      { type: 'done', message: 'all is well' },
    ]);
    await page.getByLabel('Node', { exact: true }).selectOption('b');
    await showsLines(page, ['node.started [b]']);
    await page.getByLabel('Node', { exact: true }).selectOption('');
    await page.getByLabel('Type', { exact: true }).selectOption('done');
    await showsLines(page, ['done all is well']);
    await page.getByLabel('Type', { exact: true }).selectOption('');
    await page.getByLabel('Search the console').fill('WELL');
    await page.getByText('1 of 3 events').waitFor();
    expect(await copied(page.getByRole('button', { name: 'Copy these lines' }))).toMatch(/ done all is well$/);
  });

  inBrowser('stays small with 500 nodes and 10,000 events, and pauses where the person scrolls up', async () => {
    const page = await tell(LARGE, largeRun());
    const lines = page.locator('[data-line]');
    await page.locator('[data-line="done"]').waitFor();
    expect(await lines.count()).toBeLessThan(100);
    expect(await page.locator('[data-node]').count()).toBeLessThan(100);
    await page.getByRole('log').evaluate((box) => box.scrollTo({ top: 0 }));
    await page.locator('[data-line="node.started"]').getByText('[n0]').waitFor();
    await page.getByRole('button', { name: 'Paused' }).click();
    await page.locator('[data-line="done"]').waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.locator('[data-row="n0"]').waitFor();
    expect(await page.locator('[data-row]').count()).toBeLessThan(100);
    await page.getByLabel('Search the console').fill('[n499]');
    await page.getByText('19 of 10000 events').waitFor();
  });

  inBrowser('draws 1,000 nodes as plain boxes where no label can be read, and with labels from nearby', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
    const position = (index: number) => ({ x: Math.floor(index / 25) * 300, y: (index % 25) * 100 });
    const nodes = ids.map((id, index) => ({ id, type: 'agent', config: {}, position: position(index) }));
    const edges = ids.slice(25).map((to, index) => ({ from: ids[index]!, to }));
    const page = await tell({ nodes, edges }, [{ type: 'done', payload: { status: 'completed' } }]);
    await page.locator('[data-node="n999"][data-status="skipped"]').waitFor();
    const nodesAre = (isRight: (count: number) => boolean, what: string) =>
      until(async () => isRight(await page.locator('[data-node]').count()), { what });
    await nodesAre((count) => count === 1_000, 'all nodes to be drawn');
    // A node is its place, its box and two ends of edges; an edge is its place, its group and one line.
    expect(await page.locator('.react-flow__nodes *').count()).toBeLessThanOrEqual(4_000);
    expect(await page.locator('.react-flow__edges *').count()).toBeLessThanOrEqual(3 * 975 + 10);
    const labels = page.locator('[data-node]').getByText(/^n\d+$/);
    await until(async () => (await labels.count()) === 0, { what: 'nodes without labels' });
    while ((await labels.count()) === 0) await page.locator('.react-flow__controls-zoomin').click();
    await nodesAre((count) => count < 1_000, 'only the nodes nearby to be drawn');
  });
});
