import type { Locator, Page, Request, Route } from 'playwright-core';
import type { JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { nodeReaches } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, unique, type Workflow } from '../support/workflow.js';

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
  const dialogOf = async (inputs: Record<string, JsonObject>): Promise<Locator> => {
    const nodes = Object.entries(inputs).map(([id, config]) => ({ id, type: 'input', config }));
    return (await ask({ name: unique('asks'), nodes, edges: [] })).getByRole('dialog');
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
    const page = await ask({
      ...linear(
        unique('typed'),
        { id: 'trip', type: 'input', config: { schema } },
        output('out', { prompt: '${inputs.trip.city}, ${inputs.trip.tags}' }),
      ),
      language: 2,
    } as Workflow);
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

  inBrowser('says what inputs are for, and what stands where they are left out', async () => {
    const dialog = await dialogOf({
      tea: { description: 'Which tea is it?', default: 'green' },
      cups: { description: 'How many are there?', default: 2, schema: { type: 'integer' } },
    });
    await dialog.getByText('Which tea is it?').waitFor();
    expect(await dialog.getByLabel('tea').getAttribute('placeholder')).toBe('green');
    await dialog.getByText('How many are there? Default: 2').waitFor();
  });

  inBrowser('does not start with an input that is no JSON', async () => {
    const dialog = await dialogOf({ raw: { optional: true, schema: { type: 'object' } } });
    const started = dialog.page().waitForRequest(isStart);
    await dialog.getByLabel('raw').fill('{urgent: true}');
    await dialog.getByText('This is not JSON yet').waitFor();
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByLabel('raw').fill('{"urgent": true}');
    await dialog.getByRole('button', { name: 'Start' }).click();
    expect((await started).postDataJSON()).toEqual({ inputs: { raw: { urgent: true } } });
  });

  inBrowser('gives an object that may be left out whole, or not at all', async () => {
    const schema = {
      type: 'object',
      properties: { urgent: { type: 'boolean' }, note: { type: 'string' } },
      required: ['urgent'],
    };
    const dialog = await dialogOf({ opts: { optional: true, schema } });
    const page = dialog.page();
    const started = page.waitForRequest(isStart);
    const given = dialog.getByLabel('Give opts');
    await given.check();
    await dialog.getByLabel('note').fill('soon');
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start' }).click();
    expect((await started).postDataJSON()).toEqual({ inputs: { opts: { urgent: false, note: 'soon' } } });

    await page.getByRole('button', { name: 'Run again', exact: true }).press('Enter');
    await page.getByRole('menuitem', { name: /With other inputs/ }).press('Enter');
    await dialog.getByLabel('With other inputs').check();
    await given.uncheck();
    const again = page.waitForRequest(isStart);
    await dialog.getByRole('button', { name: 'Start' }).click();
    expect((await again).postDataJSON()).toEqual({ inputs: {} });
  });

  inBrowser('leaves out a list that may be, once it is empty again', async () => {
    const tags = { type: 'array', items: { type: 'string' } };
    const schema = { type: 'object', properties: { first: tags, second: tags }, required: ['second'] };
    const dialog = await dialogOf({ tags: { optional: true, schema: tags }, both: { schema } });
    const started = dialog.page().waitForRequest(isStart);
    for (const list of ['tags', 'first', 'second']) {
      await dialog.getByRole('button', { name: `Add to ${list}` }).click();
      await dialog.getByRole('button', { name: `Remove ${list} 1` }).click();
    }
    await dialog.getByRole('button', { name: 'Start' }).click();
    expect((await started).postDataJSON()).toEqual({ inputs: { both: { second: [] } } });
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
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByRole('textbox', { name: 'in' }).fill('x');
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
      await page.getByRole('menuitem', { name: 'All nodes' }).press('Enter');
    };
    await page.route('**/rerun', loseAnswer, { times: 1 });
    await again();
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
    await again();
    await page.waitForURL((url) => !url.pathname.includes(origin));
    expect(await runs()).toBe(2);
  });
});

function isStart(request: Request): boolean {
  return request.method() === 'POST' && /\/(runs|rerun)$/.test(request.url());
}

function runIdOf(page: Page): string {
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

/** The service does what it is asked, and nobody hears of it. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}
