import type { Page, Route } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { nodeReaches } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, unique, type Workflow } from '../support/workflow.js';

/** A workflow with an input of this config, and its output. */
const asksFor = (id: string, config: object, prompt = `{{${id}}}`): Workflow =>
  ({
    name: unique('asks'),
    language: 2,
    nodes: [
      { id, type: 'input', config },
      { id: 'out', type: 'output', config: { prompt } },
    ],
    edges: [{ from: id, to: 'out' }],
  }) as unknown as Workflow;

describe('what runs are started with', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const ask = async (workflow: Workflow): Promise<Page> => {
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    return page;
  };
  const inputsOf = async (page: Page) => (await stage.api.run(runIdOf(page))).inputs;

  inBrowser('starts with typed inputs, and says what does not fit at its field', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string', pattern: '^[A-Z]' },
        days: { type: 'integer', default: 3 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['city'],
    };
    const page = await ask(asksFor('trip', { schema }, '${inputs.trip.city}, ${inputs.trip.tags}'));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('city').fill('berlin');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByRole('alert').first().waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await dialog.getByLabel('city').fill('Berlin');
    await dialog.getByRole('button', { name: 'Add to tags' }).click();
    await dialog.getByRole('textbox', { name: 'tags 1' }).fill('rain');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL('**/runs/*');
    const result = page.getByRole('region', { name: 'Result', exact: true });
    await result.getByText('Berlin, ["rain"]').first().waitFor();
    expect(await inputsOf(page)).toEqual({ trip: { city: 'Berlin', days: 3, tags: ['rain'] } });
  });

  inBrowser('starts a run, and runs it again, once where the answer was lost', async () => {
    const workflow = linear(unique('once'), input('in'), output('out'));
    const page = await ask(workflow);
    await page.route('**/runs', loseAnswer, { times: 1 });
    const dialog = page.getByRole('dialog');
    const start = dialog.getByRole('button', { name: 'Start' });
    await dialog.getByRole('textbox', { name: 'in' }).fill('x');
    await start.click();
    await dialog.getByText('The service cannot be reached').waitFor();
    await start.click();
    await page.waitForURL('**/runs/*');
    const runs = async () => {
      const { body } = await stage.api.call<{ runs: object[] }>('GET', `/runs?workflow=${workflow.name}`);
      return body.runs.length;
    };
    expect(await runs()).toBe(1);

    const origin = runIdOf(page);
    await nodeReaches(page, 'out', 'completed');
    const again = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Run again', exact: true }).press('Enter');
      await page.getByRole('menuitem', { name: 'All of it, anew' }).press('Enter');
    };
    await page.route('**/rerun', loseAnswer, { times: 1 });
    await again();
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
    await again();
    await page.waitForURL((url) => !url.pathname.includes(origin));
    expect(await runs()).toBe(2);
  });
});

function runIdOf(page: Page): string {
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

/** The service does what it is asked, and nobody hears of it. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}
