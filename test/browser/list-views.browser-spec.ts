import type { Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { longIdFaults } from '../support/long-ids.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { input, linear, output, script, unique } from '../support/workflow.js';

/** Pixels of the highest row that has a single line. */
const ROW = 44;
const WIDTHS = [1280, 1440, 1920];

interface Box {
  scrollWidth: number;
  clientWidth: number;
}

describe('the lists of the console', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  /** Runs workflows with names of 3, 24, 40 and 64 characters, one of which fails, and one of which asks. */
  const runNames = async (): Promise<string[]> => {
    const names = [24, 40, 64].map((length) => unique('weather-agent').padEnd(length, 'w').slice(0, length));
    const [short = '', middle = '', long = ''] = names;
    await stage.api.finish(linear(short, input('in'), output('out')), { in: 'A question that takes some room' });
    await stage.api.finish(linear(middle, script('makes', { fail: 'The printer has no paper left. '.repeat(5) })));
    await stage.api.save(linear(long, { id: 'n'.repeat(64), type: 'human', config: { prompt: 'Well?' } }));
    await stage.api.reached(await stage.api.start(long), ['input-required']);
    await stage.api.finish(linear(`w${unique('').slice(-2)}`, script('makes', { complete: 'done' })));
    return names;
  };

  inBrowser('keep each row in one line, whatever the length of a name', async () => {
    const names = await runNames();
    const page = await browser.open('about:blank');
    for (const view of ['workflows', 'tasks', 'agents', 'runs']) {
      await page.goto(`${stage.parley.url}/${view}`);
      await page.getByRole('table').getByRole('row').nth(4).waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const heights = await page
          .locator('tbody tr:not([aria-hidden])')
          .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
        expect([view, width, Math.max(...heights) <= ROW]).toEqual([view, width, true]);
        expect([view, width, await isScrolledSideways(page)]).toEqual([view, width, false]);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    const table = page.getByRole('table', { name: 'Runs' });
    for (const name of names) {
      const text = table.getByRole('link', { name, exact: true }).locator('span');
      expect(await text.getAttribute('title')).toBe(name);
      const isCut = await text.evaluate((it) => it.scrollWidth > it.clientWidth);
      expect([name, isCut]).toEqual([name, name.length > 24]);
    }
    await page.goto(`${stage.parley.url}/inbox`);
    await page.getByRole('list', { name: 'Questions' }).getByRole('link').last().waitFor();
    expect(await isScrolledSideways(page)).toBe(false);
  });

  inBrowser('keep names and ids of 64 characters inside their boxes, on a desk and on a phone', async () => {
    const [name, ...ids] = ['w', 'in', 'broken', 'gate', 'out'].map((start) => unique(start).padEnd(64, 'm'));
    const [first = '', broken = '', gate = '', last = ''] = ids;
    const nodes = [input(first), script(broken, { fail: `No paper in ${broken}` }), output(last)];
    await stage.api.save(linear(name ?? '', input(first), { id: gate, type: 'human' }, output(last)));
    const waiting = await stage.api.start(name ?? '', { [first]: 'x' });
    await stage.api.reached(waiting, ['input-required']);
    await stage.api.call('PUT', `/workflows/${name}`, linear(name ?? '', ...nodes));
    const { runId: failed } = await stage.api.ended(await stage.api.start(name ?? '', { [first]: 'x' }));
    const page = await browser.open('about:blank');
    const views: [path: string, ready: string][] = [
      [`runs/${failed}`, '[data-cause], [data-why]'],
      [`runs/${failed}?view=details`, '[data-cause]'],
      [`runs/${failed}?view=timeline`, '[data-row], [role="tabpanel"]'],
      [`runs/${failed}?view=log`, '[data-line="done"]'],
      [`runs/${failed}/nodes/${broken}`, '[data-details] [data-status="failed"]'],
      [`runs/${waiting}?view=details`, '[data-cause]'],
      [`workflows/history/${name}`, '[data-change="added"]'],
      [`runs/compare?before=${waiting}&after=${failed}`, 'table'],
      ['inbox', '[data-question]'],
      [`agents/one?agent=workflows/${name}/nodes/${broken}`, 'dl'],
    ];
    const faults: string[] = [];
    const collect = async (width: number, view: string): Promise<void> =>
      void faults.push(...(await longIdFaults(page)).map((fault) => `${view} at ${width}: ${fault}`));
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const [path, ready] of views) {
        await page.goto(`${stage.parley.url}/${path}`);
        await page.locator(ready).first().waitFor({ state: 'attached' });
        await collect(width, path);
      }
      await page.goto(`${stage.parley.url}/workflows/edit/${name}`);
      await page.locator(`[data-node="${broken}"]`).click();
      await page.locator('[data-panel]').waitFor();
      await collect(width, 'the editor');
    }
    expect(faults).toEqual([]);
  });

  inBrowser('say how API keys are switched on where there are none, and show an error as an error', async () => {
    const page = await browser.open(`${stage.parley.url}/settings/keys`);
    await page.getByRole('heading', { name: 'This service uses no API keys' }).waitFor();
    await page.getByText('AUTH_MODE=api-key').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    for (const status of [500, 403]) {
      await page.route('**/api/keys', (route) => route.fulfill({ status, json: { detail: `refused ${status}` } }));
      await page.reload();
      await page.getByRole('alert').getByText(`refused ${status}`).waitFor();
      await page.unroute('**/api/keys');
    }
  });

  inBrowser('have a title for the tab that names the page and follows its state', async () => {
    const { name } = await stage.api.save(
      linear(unique('ask'), { id: 'gate', type: 'human', config: { prompt: '?' } }),
    );
    const runId = await stage.api.start(name);
    await stage.api.reached(runId, ['input-required']);
    const page = await browser.open('about:blank');
    const titleIs = (wanted: RegExp) =>
      until(async () => wanted.test(await page.title()), { what: `the title ${wanted}, not ${page.url()}` });
    const seen = new Set<string>();
    const freshTitle = async (): Promise<string | false> => {
      const title = (await page.title()).replace(/^\(.*?\) /, '');
      return !seen.has(title) && /. · Parley$/.test(title) && title;
    };
    await page.goto(stage.parley.url);
    for (const path of PATHS) {
      await page.evaluate(`history.pushState(null, '', '${path}')`);
      seen.add(await until(freshTitle, { what: `a title of ${path}` }));
    }
    const end = `${name} ${runId.slice(-8)} · Runs · Parley$`;
    await page.goto(`${stage.parley.url}/runs/${runId}`);
    await titleIs(new RegExp(`^\\(\\d\\+?\\) Waiting · ${end}`));
    await page.locator('nav [data-waiting]').first().waitFor();
    await page.locator('[data-node="gate"]').click();
    await titleIs(new RegExp(`Waiting · gate · ${end}`));
    await page.getByRole('link', { name: 'Open workflow' }).click();
    await titleIs(new RegExp(`${name} · Workflows · Parley$`));
    await page.goBack();
    await titleIs(new RegExp(`Waiting · gate · ${end}`));
    await stage.api.call('POST', `/runs/${runId}/answers`, { node: 'gate', parts: [{ text: 'yes' }] });
    await titleIs(new RegExp(`Completed · gate · ${end}`));
  });
});

const PATHS = [
  ...['workflows', 'workflows/new', 'runs', 'inbox', 'conversations', 'conversations/new'],
  ...['brainstorms', 'brainstorms/new', 'agents', 'tasks', 'settings/models', 'settings/new-model'],
  ...['schedules', 'schedules/new-schedule', 'settings/agents', 'settings/new-agent'],
  ...['settings/mcp-servers', 'settings/new-mcp-server', 'settings/credentials', 'settings/new-credential'],
  ...['settings/keys', 'settings/cards', 'settings/files', 'nowhere'],
].map((path) => `/${path}`);

/** True if the page or its table is wider than its frame. */
async function isScrolledSideways(page: Page): Promise<boolean> {
  const frames = page.locator('main, main [role="region"]');
  const boxes = await frames.evaluateAll((all) =>
    all.map(({ scrollWidth, clientWidth }: Box) => [scrollWidth, clientWidth]),
  );
  return boxes.some(([scroll = 0, client = 0]) => scroll > client);
}
