import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { nodeOf } from '../support/console-page.js';
import { FakeLlm } from '../support/fake-llm.js';
import { metric } from '../support/service-metrics.js';
import { type SharedStage, useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, output, unique } from '../support/workflow.js';

/**
 * Returns how many stored runs have ended that the metrics of the service do not count. Runs of other files, which may
 * end meanwhile, change nothing.
 */
async function countUncounted({ parley, database }: SharedStage): Promise<number> {
  const counted = await metric(parley, 'parley_runs_total');
  const [row] = await database.query<{ ended: number }>(`
    SELECT count(*)::int AS ended FROM task WHERE agent LIKE 'workflows/%' AND agent NOT LIKE '%/nodes/%'
    AND state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`);
  return (row?.ended ?? 0) - counted;
}

describe('a node that is run alone', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('has the input of the last run, which may be changed, and makes no run', async () => {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    llm.answer = ({ messages }) => `answer to ${JSON.stringify((messages as { content: string }[]).at(-1)?.content)}`;
    const model = unique('m');
    const body = { name: model, provider: 'openai-compatible', model: 'small', baseUrl: llm.url };
    expect((await stage.api.call('POST', '/models', body)).status).toBe(201);
    const workflow = linear(
      unique('trial'),
      input('in'),
      echo('writes', { model, prompt: 'Write about {{in}}' }),
      output('out'),
    );
    const uncounted = await countUncounted(stage);
    await stage.api.finish(workflow, { in: 'tea' });
    await until(async () => (await countUncounted(stage)) === uncounted, { what: 'the run to be counted' });
    const saved = (await stage.api.call('GET', `/workflows/${workflow.name}`)).text;
    const runs = async (): Promise<number> =>
      (await stage.api.call<{ runs: unknown[] }>('GET', `/runs?workflow=${workflow.name}`)).body.runs.length;

    const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`, {
      width: 1440,
      height: 900,
    });
    await nodeOf(page, 'writes').click();
    await page.getByText('Run this node').first().click();
    const trial = page.locator('[data-trial="writes"]');
    await trial.waitFor();
    expect(await trial.getByLabel('Input').inputValue()).toBe('Write about tea');
    await trial.getByLabel('Input').fill('Write about coffee');
    await trial.getByRole('button', { name: 'Run this node' }).focus();
    await page.keyboard.press('Enter');
    await trial.locator('[data-answer]').getByText('Write about coffee').waitFor();
    await trial.locator('[data-status="completed"], [data-status="TASK_STATE_COMPLETED"]').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);

    expect(llm.calls).toHaveLength(2);
    expect(await runs()).toBe(1);
    await until(async () => (await countUncounted(stage)) === uncounted, { what: 'no run to be counted' });
    expect((await stage.api.call('GET', `/workflows/${workflow.name}`)).text).toBe(saved);
    await stage.api.ended(await stage.api.start(workflow.name, { in: 'milk' }));
    expect(JSON.stringify(llm.calls.at(-1)!.body)).toContain('Write about milk');
  });

  inBrowser('shows the failure of its model on a phone, and says that unsaved changes do not count', async () => {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    llm.answer = () => ({ status: 401, error: 'invalid key' });
    const model = unique('m');
    const body = { name: model, provider: 'openai-compatible', model: 'small', baseUrl: llm.url };
    expect((await stage.api.call('POST', '/models', body)).status).toBe(201);
    const { name } = await stage.api.save(linear(unique('trial'), input('in'), echo('writes', { model })));
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${name}`, { width: 390, height: 844 });
    page.on('dialog', (dialog) => void dialog.accept());
    await nodeOf(page, 'writes').click();
    await page.getByText('Run this node').first().click();
    const trial = page.locator('[data-trial="writes"]');
    await trial.getByLabel('Input').fill('hello');
    expect(await trial.getByRole('note').count()).toBe(0);
    await trial.getByRole('button', { name: 'Run this node' }).click();
    await trial.getByText('the provider refused the key').first().waitFor();
    await page.getByLabel('Prompt', { exact: true }).click();
    await page.keyboard.type('changed');
    await trial.getByRole('note').getByText('The node runs as it was saved').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.getByLabel('Id', { exact: true }).fill('renamed');
    await page.getByLabel('Id', { exact: true }).press('Enter');
    await page.getByText('Run this node').first().click();
    await page.getByText('This node is not saved.').waitFor();
  });
});
