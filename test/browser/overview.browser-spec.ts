import { inBrowser, seriousFaults, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';
import { startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { linear, output, script, unique } from '../support/workflow.js';

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

const failing = (node: string, text: string) => linear(unique('fails'), script(node, { fail: text }), output('out'));

describe('the overview', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('is the first page once there are runs; before, the workflows are', async () => {
    await stage.api.finish(failing(unique('plan'), 'x'));
    const page = await browser.open(stage.parley.url, SIZES[0]);
    await page.waitForURL('**/overview');
    await page.route('**/api/runs?pageSize=1', (route) => route.fulfill({ json: { runs: [], nextPageToken: '' } }));
    await page.goto(stage.parley.url);
    await page.waitForURL('**/workflows');
  });

  inBrowser('keeps the range in the address', async () => {
    const page = await browser.open(`${stage.parley.url}/overview`, SIZES[0]);
    await page.getByLabel('Range').selectOption('7d');
    await page.waitForURL(/\/overview\/?\?range=7d$/);
    await page.reload();
    await page.getByText('in the 7 days before').first().waitFor();
    expect(await page.getByLabel('Range').inputValue()).toBe('7d');
  });

  inBrowser('is the first view, and shows nothing serious for an accessibility checker', async () => {
    await stage.api.finish(failing(unique('plan'), 'a reason that is long '.repeat(20)));
    for (const size of SIZES) {
      const page = await browser.open(`${stage.parley.url}/overview`, size);
      await page.getByRole('table', { name: 'Failures' }).waitFor();
      const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link').filter({ visible: true });
      expect(await links.first().innerText()).toContain('Overview');
      expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
      const [shown, wide] = await page
        .locator('#view')
        .evaluate((view) => [view.clientWidth, view.scrollWidth] as const);
      expect(wide).toBeLessThanOrEqual(shown);
    }
  });

  inBrowser('shows tokens and cost by workflow, caller, model and day', async () => {
    const sums = {
      calls: 3,
      unreportedCalls: 1,
      unpricedCalls: 2,
      inputTokens: 1_200,
      outputTokens: 34,
      cost: '0.0121',
    };
    const unknown = { calls: 1, unreportedCalls: 1, unpricedCalls: 1 };
    const groups = [
      { key: 'greeting', ...sums },
      { key: 'mute', ...unknown },
    ];
    for (const size of SIZES) {
      const page = await browser.open(`${stage.parley.url}/overview`, size);
      await page.route('**/api/usage?*', (route) =>
        route.fulfill({ json: { since: '2026-01-01', until: '2026-01-30', total: sums, groups, more: false } }),
      );
      await page.getByRole('link', { name: 'Tokens and cost' }).click();
      const table = page.getByRole('table', { name: 'Usage' });
      const cells = (key: string) => table.getByRole('row').filter({ hasText: key }).getByRole('cell').allInnerTexts();
      await table.getByText('greeting').waitFor();
      expect(await cells('greeting')).toEqual(expect.arrayContaining(['1,200 + unknown', '$0.0121 + unknown']));
      expect((await cells('mute')).filter((text) => text === 'unknown').length).toBeGreaterThanOrEqual(2);
      for (const by of ['caller', 'model', 'day']) {
        await page.getByLabel('Group by').selectOption(by);
        await page.waitForURL(`**/overview/usage?by=${by}*`);
      }
      expect(await seriousFaults(page)).toEqual([]);
    }
  });
});

describe('the page of a run', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('has its tokens and cost, of its own nodes and with child runs, unknown ones as unknown', async () => {
    const run = await stage.api.finish(linear(unique('done'), script('a', { complete: 'x' }), output('out')));
    const own = { calls: 1, unreportedCalls: 1, unpricedCalls: 1 };
    const total = { calls: 2, unreportedCalls: 1, unpricedCalls: 1, inputTokens: 600, outputTokens: 61, cost: '0.5' };
    for (const size of SIZES) {
      const page = await browser.open('about:blank', size);
      await page.route(`**/api/runs/${run.runId}`, async (route) => {
        const reply = await route.fetch();
        await route.fulfill({ json: { ...(await reply.json()), usage: { ...total, own, models: [] } } });
      });
      await page.goto(`${stage.parley.url}/runs/${run.runId}`);
      const usage = page.getByRole('region', { name: 'Tokens and cost' });
      const cells = (name: string) => usage.getByRole('row', { name }).getByRole('cell').allInnerTexts();
      // A phone shows one tab at a time.
      if (size.width < 600) await page.getByRole('tab', { name: 'Details' }).click();
      await usage.waitFor({ state: 'attached' });
      expect(await cells('With child runs')).toEqual(['600 + unknown', '61 + unknown', '$0.5 + unknown']);
      expect(await cells('Own nodes')).toEqual(['unknown', 'unknown', 'unknown']);
    }
  });
});

describe('on a database without runs of other files', () => {
  // Those may wait for answers, or have more causes of failures than the overview lists.
  const stage = useStage();
  const browser = useBrowser();

  inBrowser('the overview groups failures by cause, live, and leads to the runs of a cause by keyboard', async () => {
    const node = unique('plan');
    const first = await stage.api.finish(failing(node, 'order 17 is closed'));
    const page = await browser.open(`${stage.parley.url}/overview?range=1h`, SIZES[0]);
    const row = page.getByRole('table', { name: 'Failures' }).getByRole('row').filter({ hasText: node });
    await row.getByText('order <n> is closed').waitFor();
    expect(await row.getByRole('cell').first().innerText()).toBe('1');
    const second = await stage.api.finish(failing(node, 'order 4711 is closed'));
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    await row.getByRole('link', { name: first.workflow }).waitFor();
    await row.getByRole('link', { name: 'order <n> is closed' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/runs\/?\?status=failed&range=1h&cause=[\w-]{16}$/);
    const runs = page.getByRole('table', { name: 'Runs' });
    for (const { workflow } of [first, second]) await runs.getByText(workflow).first().waitFor();
    expect(await runs.getByRole('row').filter({ hasText: 'Failed' }).count()).toBe(2);
    await page.getByRole('button', { name: 'Remove the filter for one cause' }).click();
    await page.waitForURL((url) => !url.searchParams.has('cause'));
    await page.goto(`${stage.parley.url}/overview?range=1h`);
    await row.getByRole('cell').last().getByRole('link').click();
    await page.waitForURL(`**/runs/${second.runId}`);
    await page.goBack();
    await row.getByRole('link', { name: first.workflow }).click();
    await page.getByRole('table', { name: 'Runs' }).getByText(first.workflow).first().waitFor();
    expect(new URL(page.url()).search).toContain('status=failed');
  });

  inBrowser(
    'a question of another replica counts in the navigation and the title until it is answered there',
    async () => {
      const other = await startParley({ databaseUrl: stage.database.url });
      stage.defer(() => other.stop());
      const gate = { id: 'gate', type: 'human', config: { prompt: 'Publish it?' } };
      const { name } = await stage.api.save({ name: unique('asks'), nodes: [gate], edges: [] });
      const page = await browser.open(`${stage.parley.url}/overview`, SIZES[0]);
      await page.locator('[data-connection="live"]').first().waitFor({ state: 'attached' });
      const call = async (method: string, path: string, body?: unknown): Promise<Record<string, string>> => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(`${other.url}/api${path}`, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return (await response.json()) as Record<string, string>;
      };
      const { runId } = await call('POST', `/workflows/${name}/runs`, {});
      const count = page.getByRole('navigation').getByRole('link', { name: 'Inbox' }).locator('[data-waiting]');
      await count.filter({ visible: true }).getByText(/^1\b/).waitFor();
      const titled = (begin: string) => async (): Promise<boolean> => (await page.title()).startsWith(begin);
      await until(titled('(1) Overview'), { what: 'the count in the title' });
      await call('POST', `/runs/${runId}/answers`, { node: 'gate', parts: [{ text: 'yes' }] });
      await count.first().waitFor({ state: 'detached' });
      await until(titled('Overview'), { what: 'the title without a count' });
    },
  );

  inBrowser('a question is the reason of its waiting run in the list', async () => {
    const gate = { id: 'gate', type: 'human', config: { prompt: 'Shall it be published?' } };
    const { name } = await stage.api.save({ name: unique('asks'), nodes: [gate], edges: [] });
    const runId = await stage.api.start(name);
    await stage.api.reached(runId, ['input-required']);
    for (const size of SIZES) {
      const page = await browser.open(`${stage.parley.url}/runs?q=${name}`, size);
      const reason = page.getByText('Waits for gate: Shall it be published?').filter({ visible: true });
      await reason.first().waitFor();
    }
  });
});
