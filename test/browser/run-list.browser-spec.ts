import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { FakeLlm } from '../support/fake-llm.js';
import { useSharedStage } from '../support/shared-stage.js';
import { range } from '../support/sse.js';
import { until } from '../support/until.js';
import { echo, input, linear, output, ruled, unique } from '../support/workflow.js';

const PHONE = { width: 390, height: 844 };

describe('the list of runs', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  const table = (page: Page) => page.getByRole('table', { name: 'Runs' });
  const rows = (page: Page) => table(page).locator('tbody tr:not([aria-hidden])');
  const boxes = (page: Page) => table(page).locator('tbody').getByRole('checkbox');
  const open = (query: string, options = {}) => browser.open(`${stage.parley.url}/runs?${query}`, options);

  /** Saves a workflow whose runs wait, fail or complete, by their input. */
  const saveWorkflow = async (): Promise<string> => {
    const node = ruled('s', [
      { when: { text: 'wait' }, steps: [{ ask: 'Which?' }, { complete: 'done' }] },
      { when: { text: 'fail' }, steps: [{ fail: 'out of paper' }] },
    ]);
    return (await stage.api.save(linear(unique('listed'), input('in'), node, output('out')))).name;
  };

  const start = async (workflow: string, text: string, status: string): Promise<string> => {
    const runId = await stage.api.start(workflow, { in: text });
    await stage.api.reached(runId, [status]);
    return runId;
  };

  /** Stores further runs like the ended run `runId`, each older than it. */
  const copyRun = async (runId: string, count: number): Promise<void> => {
    const { database } = stage;
    const columns = (await database.query(`SELECT column_name AS name FROM information_schema.columns
      WHERE table_name = 'task' AND is_generated = 'NEVER'`)) as { name: string }[];
    const other = columns.map(({ name }) => name).filter((name) => name !== 'task_id' && name !== 'updated_at');
    // The log first: an ended Task takes no more events.
    await database.query(
      `INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
       SELECT task_id || '-' || n, sequence, events, artifact, recorded_at
       FROM task_log, generate_series(1, $2::int) AS n WHERE task_id = $1`,
      [runId, count],
    );
    await database.query(
      `INSERT INTO task (task_id, updated_at, ${other.join(', ')})
       SELECT task_id || '-' || n, updated_at - n * interval '1 second', ${other.join(', ')}
       FROM task, generate_series(1, $2::int) AS n WHERE task_id = $1`,
      [runId, count],
    );
    // Other files use the database afterwards: their lists would have these runs, too.
    stage.defer(async () => {
      for (const kept of ['task_log', 'task'])
        await database.query(`DELETE FROM ${kept} WHERE task_id LIKE $1`, [`${runId}-%`]);
    });
  };

  inBrowser('counts the seconds since the last change of a run', async () => {
    const workflow = await saveWorkflow();
    await start(workflow, 'ok', 'completed');
    const page = await open(`workflow=${workflow}`);
    const changed = rows(page).locator('time').last();
    await changed.waitFor();
    const first = (await changed.textContent()) ?? '';
    expect(first).toMatch(/^(?:now|\d+ seconds? ago)$/);
    await until(async () => (await changed.textContent()) !== first);
    expect(await changed.textContent()).toMatch(/^\d+ seconds? ago$/);
  });

  inBrowser('keeps its filters in the address, and under a name', async () => {
    const workflow = await saveWorkflow();
    const done = await start(workflow, 'Customer number 77', 'completed');
    await start(workflow, 'fail', 'failed');
    await start(workflow, 'wait', 'input-required');
    const page = await open(`workflow=${workflow}`);
    await until(async () => (await rows(page).count()) === 3, { what: 'three runs' });
    const statuses = page.getByRole('group', { name: 'Status' });
    await statuses.getByRole('button', { name: 'Completed' }).click();
    await statuses.getByRole('button', { name: 'Failed' }).click();
    await until(async () => (await rows(page).count()) === 2, { what: 'two runs of two statuses' });
    await page.locator('header').getByText('2 runs', { exact: true }).waitFor();
    await page.getByLabel('Last change').selectOption('24h');
    await page.getByRole('searchbox').fill('customer NUMBER');
    await until(async () => (await rows(page).count()) === 1, { what: 'the run with the input' });
    await rows(page).getByTitle(done).waitFor();
    await page.reload();
    await rows(page).getByTitle(done).waitFor();
    expect([await rows(page).count(), new URL(page.url()).search]).toEqual([
      1,
      `?q=customer+NUMBER&status=completed%2Cfailed&workflow=${workflow}&range=24h`,
    ]);
    expect(await statuses.getByRole('button', { pressed: true }).allInnerTexts()).toEqual(['Completed', 'Failed']);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('menuitem', { name: 'Save this filter …' }).click();
    await page.getByLabel('Name').fill('Number 77');
    await page.getByLabel('Name').press('Enter');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await until(async () => new URL(page.url()).search === '', { what: 'an address without filters' });
    await page.reload();
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('menuitem', { name: 'Number 77', exact: true }).click();
    await until(async () => (await rows(page).count()) === 1, { what: 'the run of the saved filter' });
    await page.getByRole('searchbox').fill('out of PAPER');
    await rows(page).getByTitle('node "s": out of paper').waitFor();
  });

  inBrowser('scrolls to run 1,000 without a click, and a change loads one page', async () => {
    const workflow = await saveWorkflow();
    await copyRun(await start(workflow, 'x', 'completed'), 999);
    const page = await open(`workflow=${workflow}`);
    await rows(page).first().waitFor();
    const asked: URLSearchParams[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/runs') asked.push(searchParams);
    });
    const box = page.getByRole('region', { name: 'Runs' });
    const last = table(page).locator('tr[aria-rowindex="1001"]');
    const seen = await until(
      async () => {
        await box.evaluate((it) => it.scrollTo(0, it.scrollHeight));
        return (await last.count()) > 0 && (await rows(page).count());
      },
      { what: 'row 1,000' },
    );
    // Only the rows in view are drawn.
    expect(seen).toBeLessThan(100);
    const tokens = asked.flatMap((query) => query.get('pageToken') ?? []);
    expect(new Set(tokens).size).toBe(9);
    // The page that has just arrived is read once more if the live connection begins at that moment.
    expect(tokens.length).toBeLessThanOrEqual(10);
    const top = await table(page).getByRole('columnheader').first().boundingBox();
    expect(top!.y).toBeGreaterThan(0);
    asked.length = 0;
    const fresh = await start(workflow, 'fail', 'failed');
    await box.evaluate((it) => it.scrollTo(0, 0));
    await rows(page).getByTitle(fresh).waitFor();
    expect(asked.filter((query) => query.has('pageToken'))).toEqual([]);
    expect(await table(page).getAttribute('aria-rowcount')).toBe('1002');
  });

  inBrowser('cancels fifty runs, and shows which two were refused', async () => {
    const workflow = await saveWorkflow();
    await Promise.all(range(1, 48).map(() => start(workflow, 'wait', 'input-required')));
    const ended = [await start(workflow, 'x', 'completed'), await start(workflow, 'fail', 'failed')];
    const page = await open(`workflow=${workflow}`);
    await until(async () => (await table(page).getAttribute('aria-rowcount')) === '51', { what: 'fifty runs' });
    await page.getByLabel('Select all rows that are loaded').check();
    await page.getByRole('toolbar').getByText('50 selected').waitFor();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel runs' });
    await dialog.getByText('48 runs can be canceled, 2 refused.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel 48 runs' }).click();
    // A cancel that takes longer than a request waits for it is pending.
    await dialog.getByText(/^\d+ runs? canceled, (\d+ pending, )?2 refused\.$/).waitFor();
    const refused = dialog.locator('[data-outcome="refused"]');
    expect((await refused.allInnerTexts()).join(' ')).toMatch(/has ended: it is (completed|failed).*has ended/s);
    expect(await dialog.locator('[data-outcome="done"], [data-outcome="pending"]').count()).toBe(48);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const idsOf = async (status: string): Promise<string[]> => {
      const path = `/runs?workflow=${workflow}&status=${status}&pageSize=100`;
      const { body } = await stage.api.call<{ runs: { runId: string }[] }>('GET', path);
      return body.runs.map(({ runId }) => runId);
    };
    await until(async () => (await idsOf('canceled')).length === 48, { what: '48 canceled runs' });
    expect((await idsOf('completed,failed')).toSorted()).toEqual(ended.toSorted());
  });

  inBrowser('works by keyboard alone: selects a range, and runs it again', async () => {
    const workflow = await saveWorkflow();
    for (const _ of range(1, 3)) await start(workflow, 'fail', 'failed');
    const page = await open(`workflow=${workflow}`);
    await boxes(page).nth(2).waitFor();
    await boxes(page).first().focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Space');
    await page.getByRole('toolbar').getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Run again what failed …' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Run again what failed' });
    await dialog.getByText('3 runs can be started again.').waitFor();
    await dialog.getByRole('button', { name: 'Run again 3 runs' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByText('3 runs started again.').waitFor();
    expect(await dialog.getByRole('link', { name: 'New run' }).count()).toBe(3);
    await page.keyboard.press('Escape');
    await until(async () => (await rows(page).count()) === 6, { what: 'three further runs' });
  });

  inBrowser('saves what the filter selects as CSV', async () => {
    const workflow = await saveWorkflow();
    const runId = await start(workflow, 'x', 'completed');
    const page = await open(`workflow=${workflow}`);
    await rows(page).first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const stream = await download.createReadStream();
    const text = Buffer.concat(await stream.toArray()).toString();
    expect([download.suggestedFilename(), text.split('\r\n').length]).toEqual(['runs.csv', 3]);
    expect(text).toContain(runId);
  });

  inBrowser(
    'shows the cost of runs in a column that only wide windows have, and only if a run called a model',
    async () => {
      const llm = await FakeLlm.start();
      stage.defer(() => llm.stop());
      llm.answer = () => ({ text: 'tea', usage: { input: 1_000_000, output: 1_000 } });
      const model = unique('m');
      const price = { input: '1', output: '500' };
      const kept = { name: model, provider: 'openai-compatible', model, baseUrl: llm.url, price };
      expect((await stage.api.call('POST', '/models', kept)).status).toBe(201);
      stage.defer(() => stage.api.call('DELETE', `/models/${model}`));
      const asked = await stage.api.save(linear(unique('costly'), echo('a', { prompt: 'x', model }), output('out')));
      await stage.api.reached(await stage.api.start(asked.name), ['completed']);
      const cost = (page: Page) => table(page).getByRole('columnheader', { name: 'Cost' });
      const page = await open(`workflow=${asked.name}`);
      await rows(page).first().waitFor();
      expect(await cost(page).count()).toBe(1);
      expect(await rows(page).first().getByTitle('1 calls of models').innerText()).toBe('$1.50');
      const narrow = await open(`workflow=${asked.name}`, PHONE);
      await rows(narrow).first().waitFor();
      expect(await cost(narrow).filter({ visible: true }).count()).toBe(0);
      const workflow = await saveWorkflow();
      await start(workflow, 'x', 'completed');
      const free = await open(`workflow=${workflow}`);
      await rows(free).first().waitFor();
      expect(await cost(free).count()).toBe(0);
    },
  );

  inBrowser('has nothing serious for an accessibility checker, wide and on a phone', async () => {
    const workflow = await saveWorkflow();
    await start(workflow, 'fail', 'failed');
    for (const size of [{}, PHONE]) {
      const page = await open(`workflow=${workflow}`, size);
      await boxes(page).first().check();
      if (size === PHONE) await page.getByRole('button', { name: /^Filters/ }).click();
      await page.getByRole('group', { name: 'Status' }).waitFor();
      expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(size === PHONE ? PHONE.width : 1280);
      await page.getByRole('button', { name: 'Cancel …' }).click();
      await page.getByRole('dialog').getByText('1 refused').waitFor();
      expect(await seriousFaultsInEitherTheme(page, '[role="dialog"]')).toEqual([]);
    }
  });
});
