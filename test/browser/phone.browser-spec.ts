import type { Locator, Page } from 'playwright-core';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { nodeOf, nodeReaches } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, input, linear, output, script, unique } from '../support/workflow.js';

const PHONES = [
  { width: 390, height: 844 },
  { width: 360, height: 640 },
];
const LINES = Array.from({ length: 40 }, (_, index) => `Line ${index} of the answer`);

describe('the console on a phone', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('shows five views and More, each wholly in sight and at least 44 px high', async () => {
    for (const phone of PHONES) {
      const page = await browser.open(`${stage.parley.url}/runs`, phone);
      const bar = page.getByRole('navigation', { name: 'Views' });
      await bar.getByRole('button', { name: 'More' }).waitFor();
      expect(await bar.getByRole('link').count()).toBe(5);
      for (const entry of await bar.locator('a, button').all()) await expectTouchable(entry, phone);
      await bar.getByRole('button', { name: 'More' }).click();
      const further = page.getByRole('menuitem');
      await further.first().waitFor();
      for (const entry of await further.all()) await expectTouchable(entry, phone);
      await page.getByRole('menuitem', { name: 'Settings' }).click();
      await page.waitForURL('**/settings');
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    }
  });

  inBrowser('shows ten lines of a node’s answer, and nothing that scrolls in another scroll area', async () => {
    const answers = echo('a', { prompt: LINES.join('  \n') });
    const workflow = linear(unique('long'), input('in'), answers, output('out'));
    const { runId } = await stage.api.finish(workflow, { in: 'x\n'.repeat(100) });
    for (const phone of PHONES) {
      const page = await browser.open(`${stage.parley.url}/runs/${runId}/nodes/a`, phone);
      const answer = page.getByRole('group', { name: 'Output, rendered' });
      await answer.getByText('Line 39').waitFor();
      expect(await linesInSight(page, answer)).toBeGreaterThanOrEqual(10);
      await page.getByText('Artifact', { exact: true }).click();
      await page.getByText('"artifactId"').first().waitFor();
      expect(await nestedScrollers(page)).toEqual([]);
      for (const tab of ['Graph', 'Timeline', 'Log']) {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('tabpanel', { name: tab }).waitFor();
        expect(await nestedScrollers(page)).toEqual([]);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(phone.width);
      }
      for (const view of ['/runs', '/tasks', '/workflows', '/inbox', '/agents']) {
        await page.goto(`${stage.parley.url}${view}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await nestedScrollers(page)).toEqual([]);
      }
    }
  });

  inBrowser(
    'leads from the graph of a run to the details of a node, and shows below the status why it failed',
    async () => {
      const broken = script('broken', { fail: 'No paper left' });
      const { runId } = await stage.api.finish(linear(unique('why'), echo('a'), broken, output('out')));
      const page = await browser.open(`${stage.parley.url}/runs/${runId}`, PHONES[0]);
      await nodeReaches(page, 'broken', 'failed');
      const why = page.locator('[data-why]');
      await why.getByText('No paper left').waitFor();
      const [status, reason] = [page.locator('header [data-status="failed"]'), why];
      expect((await reason.boundingBox())?.y).toBeGreaterThan((await status.boundingBox())?.y ?? Infinity);
      await nodeOf(page, 'broken').click();
      await page.getByRole('tab', { name: 'Details', selected: true }).waitFor();
      await page.getByRole('heading', { name: 'broken', exact: true }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('tab', { name: 'Log' }).click();
      await page.locator('[data-line="done"]').waitFor();
      await page.getByRole('tab', { name: 'Graph' }).click();
      await nodeReaches(page, 'out', 'skipped');
    },
  );

  inBrowser('cuts the ids of Tasks at the front', async () => {
    const { nodes } = await stage.api.finish(linear(unique('ids'), echo('a'), output('out')));
    const id = nodes['a']?.taskId ?? '';
    const page = await browser.open(`${stage.parley.url}/tasks`, PHONES[1]);
    const cell = page.getByRole('link', { name: id });
    await cell.waitFor();
    const text = cell.locator('bdi');
    const [whole, frame] = [await text.boundingBox(), await cell.locator('span').boundingBox()];
    expect(whole && frame && whole.width > frame.width).toBe(true);
    // The end of the id lies within the cell.
    expect((whole?.x ?? 0) + (whole?.width ?? 0)).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0) + 1);
  });
});

async function expectTouchable(entry: Locator, { width, height }: { width: number; height: number }): Promise<void> {
  const box = await entry.boundingBox();
  if (!box) throw new Error(`${await entry.innerText()} is not drawn`);
  expect(box.height).toBeGreaterThanOrEqual(44);
  expect([box.x >= 0, box.y >= 0, box.x + box.width <= width, box.y + box.height <= height]).toEqual([
    ...[true, true, true, true],
  ]);
  const isCut = await entry.evaluate((it) => it.scrollWidth > it.clientWidth);
  expect([await entry.innerText(), isCut]).toEqual([await entry.innerText(), false]);
}

/** Returns how many lines of an answer lie between the tabs and the bar at the bottom. */
async function linesInSight(page: Page, answer: Locator): Promise<number> {
  const bar = await page.getByRole('navigation', { name: 'Views' }).boundingBox();
  const tabs = await page.getByRole('tablist').boundingBox();
  const [top, bottom] = [(tabs?.y ?? 0) + (tabs?.height ?? 0), bar?.y ?? 0];
  const text = await answer.innerText();
  const lines = text.split('\n').filter((line) => line.startsWith('Line '));
  const box = await answer.locator('p').first().boundingBox();
  if (!box) throw new Error(`no paragraph in ${text}`);
  const height = box.height / lines.length;
  return Math.floor((Math.min(bottom, box.y + box.height) - Math.max(top, box.y)) / height);
}

/** Returns the elements that can be scrolled and lie in an element that can be scrolled as well. */
function nestedScrollers(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const canScroll = (it) =>
      ['auto', 'scroll'].includes(getComputedStyle(it).overflowY) && it.scrollHeight > it.clientHeight + 1;
    const scrollers = [...document.querySelectorAll('*')].filter(canScroll);
    const nested = scrollers.filter((it) => scrollers.some((other) => other !== it && other.contains(it)));
    return nested.map((it) => it.tagName + ' ' + (it.getAttribute('aria-label') ?? it.id) + ' ' + it.className);
  })()`);
}
