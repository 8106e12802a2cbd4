import type { Locator, Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import type { FakeAnswer } from '../support/fake-llm.js';
import { keepModel } from '../support/kept-model.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, linear, output, unique, type Workflow } from '../support/workflow.js';

/** Times of a bar: its begin and end, as the row has them. */
type Times = [from: string | undefined, to: string | undefined];

describe('the timeline of a run', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const openTimeline = (runId: string, width = 1280): Promise<Page> =>
    browser.open(`${stage.parley.url}/runs/${runId}?view=timeline`, { width });
  const timesOf = (bars: Locator): Promise<Times[]> =>
    bars.evaluateAll((all) => all.map(({ dataset }): Times => [dataset['from'], dataset['to']]));
  const labels = (page: Page): Promise<string[]> =>
    page
      .getByRole('region', { name: 'Timeline' })
      .getByRole('listitem')
      .evaluateAll((all) => all.map((it) => it.querySelector('.truncate')?.textContent ?? ''));

  /** Waits until a timeline shows the whole run. */
  const shownToEnd = (page: Page): Promise<void> => page.locator('[data-row="out"] [data-bar="completed"]').waitFor();

  /** Runs an agent whose first model call is refused, and whose retry calls a model, a tool, and the model again. */
  const runAgent = async (): Promise<string> => {
    const { llm, name } = await keepModel(stage.api, stage.defer);
    let calls = 0;
    llm.answer = ({ messages }): FakeAnswer => {
      calls += 1;
      if (calls === 1) return { status: 400, error: 'not today' };
      const hasResult = (messages as { role: string }[]).some(({ role }) => role === 'tool');
      if (hasResult) return { text: 'It is 42.' };
      return { toolCalls: [{ id: 'c', name: 'calculator', args: { expression: '6 * 7' } }] };
    };
    const agent = echo('a', { model: name, prompt: 'Six by seven?', tools: ['calculator'] });
    const retrying = { ...agent, retry: { attempts: 2, delay: '10ms', on: ['failed'] } };
    const workflow = linear(unique('parts'), retrying, output('out'));
    const { runId, status } = await stage.api.finish(workflow);
    expect(status).toBe('completed');
    return runId;
  };

  inBrowser('shows the model calls, the tool call and the retry of an agent at the times of their events', async () => {
    const runId = await runAgent();
    const page = await openTimeline(runId);
    const parts = page.locator('[data-part]');
    await shownToEnd(page);
    await parts.nth(4).waitFor();
    expect(await parts.evaluateAll((all) => all.map(({ dataset }) => dataset['part']))).toEqual([
      ...['model', 'retry', 'model', 'tool', 'model'],
    ]);
    const events = (await (await stage.api.events(runId)).all()).map(({ data }) => data);
    const at = (type: string): string[] => events.filter((it) => it.type === type).map(({ timestamp }) => timestamp);
    const started = events.filter(({ type, node_id: node }) => type === 'node.started' && node === 'a');
    expect(await timesOf(parts.locator('[data-bar]'))).toEqual([
      [at('model.request')[0], at('model.error')[0]],
      [at('node.retrying')[0], started[1]?.timestamp],
      [at('model.request')[1], at('model.response')[0]],
      [at('tool.call')[0], at('tool.result')[0]],
      [at('model.request')[2], at('model.response')[1]],
    ]);
    expect(await timesOf(page.locator('[data-row="a"] [data-bar]'))).toEqual([
      [started[0]?.timestamp, at('node.retrying')[0]],
      [started[1]?.timestamp, at('node.completed')[0]],
    ]);
    for (const row of await parts.all()) expect(await row.locator('[data-took]').innerText()).toMatch(/^\d.* m?s$/);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);

    await page.getByRole('button', { name: 'Parts of a' }).click();
    await parts.first().waitFor({ state: 'detached' });
    await page.getByLabel('Rows').selectOption('failed');
    await until(async () => (await labels(page)).length === 2, { what: 'the failed call and its node' });
    expect((await labels(page))[0]).toBe('a');
    await page.getByLabel('Rows').selectOption('slowest');
    await until(async () => (await labels(page)).length === 6, { what: 'five parts and the output node' });
  });

  inBrowser('zooms by buttons, and keeps the names in view', async () => {
    const page = await openTimeline(await runAgent(), 1000);
    // The widest bar: a short one is drawn wider than it took.
    const width = (): Promise<number> =>
      page
        .locator('[data-bar]')
        .evaluateAll((bars) => Math.max(...bars.map((bar) => bar.getBoundingClientRect().width)));
    await shownToEnd(page);
    const before = await width();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.locator('[data-zoom="4"]').waitFor();
    const zoomed = await width();
    expect(zoomed).toBeGreaterThan(3 * before);
    const area = (await page.getByRole('region', { name: 'Timeline' }).boundingBox())?.x ?? 0;
    expect((await page.locator('[data-row="a"] .truncate').boundingBox())?.x).toBeGreaterThanOrEqual(area);
    await page.getByRole('button', { name: 'Fit' }).click();
    await page.locator('[data-zoom="1"]').waitFor();
  });

  inBrowser('draws only the rows in view of 300, in the order of their begin', async () => {
    const nodes = Array.from({ length: 300 }, (_, index) => echo(`n${index}`));
    const edges = nodes.slice(1).map(({ id }, index) => ({ from: `n${index}`, to: id }));
    // The definition lists the nodes in the opposite order.
    const workflow: Workflow = { name: unique('rows'), nodes: nodes.toReversed(), edges };
    const { runId } = await stage.api.finish(workflow);
    const events = (await (await stage.api.events(runId)).all()).map(({ data }) => data);
    const started = events.filter(({ type }) => type === 'node.started');
    const begins = new Map(started.map(({ node_id: id, timestamp }) => [id, Date.parse(timestamp)]));
    const beginOf = ({ id }: { id: string }): number => begins.get(id) ?? Infinity;
    // Nodes that began in the same millisecond keep the order of the definition.
    const first = workflow.nodes.toSorted((a, b) => beginOf(a) - beginOf(b)).slice(0, 4);
    const wanted = first.map(({ id }) => id).join();
    const page = await openTimeline(runId);
    const shown = async (): Promise<string> => (await labels(page)).slice(0, 4).join();
    await until(async () => (await shown()) === wanted, { what: `${wanted} as the first rows` });
    const region = page.getByRole('region', { name: 'Timeline' });
    expect(await region.getByRole('listitem').count()).toBeLessThan(60);
    await region.evaluate((it) => it.scrollTo({ top: it.scrollHeight }));
    await page.locator('[data-row="n299"]').waitFor();
    expect(await region.getByRole('listitem').count()).toBeLessThan(60);
  });
});
