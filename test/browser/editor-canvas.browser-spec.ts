import type { Locator, Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { nodeOf } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, output, unique } from '../support/workflow.js';

const WINDOW = { width: 1440, height: 900 };
/** Least size in pixels of a label of a node. */
const LEAST_LABEL = 11;
/** Workflow name of 64 characters. */
const LONGEST = 'a'.repeat(64);

/** Members of a page that these tests use. */
interface InPage {
  document: { activeElement: unknown };
  getComputedStyle: (of: unknown) => { fill: string; fontSize: string };
}

describe('the canvas and the name of an edited workflow', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  const save = (page: Page): Promise<void> => page.getByRole('button', { name: 'Save', exact: true }).click();

  inBrowser('shows every node in a readable size after each click, after Tidy up, and after a reload', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows/new`, WINDOW);
    const name = unique('canvas');
    await page.getByLabel('Name', { exact: true }).fill(name);
    const palette = page.getByRole('group', { name: 'Node types' });
    for (const [index, label] of ['User Input', 'Agent', 'Agent', 'Agent', 'Agent', 'Output'].entries()) {
      await palette.getByRole('button', { name: label, exact: true }).click();
      await page.locator('[data-node]').nth(index).waitFor();
      await allInside(page, `${index + 1} nodes`);
    }
    await page.locator('.react-flow__controls-zoomin').click({ clickCount: 3 });
    await page.getByRole('button', { name: 'Tidy up' }).click();
    await allInside(page, 'the laid out nodes');
    await save(page);
    await page.waitForURL(`**/workflows/edit/${name}`);
    await page.reload();
    await page.locator('[data-node]').nth(5).waitFor();
    await allInside(page, 'the loaded nodes');

    const four = linear(unique('four'), input('in'), echo('a'), echo('b'), output('out'));
    await stage.api.save(four);
    await page.goto(`${stage.parley.url}/workflows/edit/${four.name}`);
    await nodeOf(page, 'out').waitFor();
    await allInside(page, 'four nodes');
  });

  inBrowser('has a map in the colors of the states, which covers no node and folds away', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `n${index}`);
    const nodes = ids.map((id, at) => ({
      ...echo(id),
      position: { x: (at % 12) * 280, y: Math.floor(at / 12) * 120 },
    }));
    const { runId } = await stage.api.finish({ name: unique('map'), nodes, edges: [] });
    const page = await browser.open(`${stage.parley.url}/runs/${runId}`, WINDOW);
    const map = page.locator('.react-flow__minimap');
    await page.locator('[data-node="n59"][data-status="completed"]').waitFor();
    const color = (target: Locator) =>
      target.evaluate((it) => (globalThis as unknown as InPage).getComputedStyle(it).fill);
    const fills = async () => Promise.all([map.locator('.react-flow__minimap-node').first(), map].map(color));
    await until(async () => new Set(await fills()).size === 2, { what: 'a node of the map to have its own color' });
    const isFree = async (): Promise<boolean> => {
      const box = await map.boundingBox();
      const covered = await page
        .locator('[data-node]')
        .evaluateAll(
          (all, { x, y }) =>
            all.filter((it) => it.getBoundingClientRect().right > x && it.getBoundingClientRect().bottom > y).length,
          box ?? { x: 0, y: 0 },
        );
      return covered === 0;
    };
    await until(isFree, { what: 'the map to cover no node' });
    await page.getByRole('button', { name: 'Map', exact: true }).click();
    await map.waitFor({ state: 'detached' });
  });

  inBrowser('leads to the setting that a rejected save is about, and Enter takes the proposed name', async () => {
    const taken = (await stage.api.save(linear(unique('taken'), echo('a')))).name;
    const page = await browser.open(`${stage.parley.url}/workflows/new`, WINDOW);
    const agent = page.getByRole('group', { name: 'Node types' }).getByRole('button', { name: 'Agent', exact: true });
    await agent.click();
    const field = page.getByLabel('Name', { exact: true });
    const toNode = (): Promise<void> => nodeOf(page, 'agent1').click();
    await save(page);
    await isRejected(field);
    const mine = unique('my first flow');
    for (const [typed, proposed] of [
      ['', 'my-workflow'],
      [mine, mine.replaceAll(' ', '-')],
      [`${LONGEST}a`, LONGEST],
      ['Größe', 'Grosse'],
      [taken, `${taken}-2`],
    ] as const) {
      await field.fill(typed);
      await toNode();
      await save(page);
      await isRejected(field);
      await page.keyboard.press('Enter');
      expect(await field.inputValue()).toBe(proposed);
    }
    await page.getByLabel('Description').fill('x'.repeat(5_000));
    await toNode();
    await save(page);
    await isRejected(page.getByLabel('Description'));
    await page.getByLabel('Description').fill('');
    await page.getByRole('button', { name: 'How it runs' }).click();
    await page.getByLabel('Deadline of a run').fill('soon');
    await toNode();
    await save(page);
    await isRejected(page.getByLabel('Deadline of a run'));
    await page.getByLabel('Deadline of a run').fill('');
    await page.getByLabel('Nodes at once').fill('0');
    await toNode();
    await save(page);
    await isRejected(page.getByLabel('Nodes at once'));
    await page.getByLabel('Nodes at once').fill('');
    await save(page);
    await page.waitForURL(`**/workflows/edit/${taken}-2`);
    await page.getByText('The name cannot change.').waitFor();
    await page.getByRole('status').getByText('Saved', { exact: true }).waitFor();
  });
});

/** Waits until an input has the focus and is marked as invalid. */
async function isRejected(field: Locator): Promise<void> {
  const isMarked = (): Promise<boolean> =>
    field.evaluate((it) => {
      const { document } = globalThis as unknown as InPage;
      return it === document.activeElement && it.getAttribute('aria-invalid') === 'true';
    });
  await field.waitFor();
  await until(isMarked, { what: 'the field to have the focus and a mark' });
}

/** Waits until every node is inside the canvas, with labels of a readable size. */
async function allInside(page: Page, what: string): Promise<void> {
  const look = async (): Promise<boolean> => {
    const pane = await page.locator('.react-flow__pane').boundingBox();
    if (!pane) return false;
    const cards = await page.locator('[data-node]').evaluateAll((all) =>
      all.map((it) => {
        const { left, top, right, bottom, width } = it.getBoundingClientRect();
        const label = it.querySelector('.font-medium') ?? it;
        const { getComputedStyle } = globalThis as unknown as InPage;
        const zoom = width / (it as unknown as { offsetWidth: number }).offsetWidth;
        return { left, top, right, bottom, label: parseFloat(getComputedStyle(label).fontSize) * zoom };
      }),
    );
    return cards.every(
      ({ left, top, right, bottom, label }) =>
        left >= pane.x &&
        top >= pane.y &&
        right <= pane.x + pane.width &&
        bottom <= pane.y + pane.height &&
        label >= LEAST_LABEL - 0.1,
    );
  };
  await until(look, { what: `${what} to be inside the canvas with readable labels` });
}
