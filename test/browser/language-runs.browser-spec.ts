import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { copied, nodeOf, nodeReaches } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { external, input, linear, output, unique, type Workflow } from '../support/workflow.js';

/** A workflow of language 2. */
const language = (name: string, nodes: object[], edges: object[], more: object = {}): Workflow =>
  ({ name: unique(name), language: 2, nodes, edges, ...more }) as unknown as Workflow;

const fails = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  config: { script: { rules: [], otherwise: [{ fail: 'No paper left' }] } },
  ...more,
});
const FORM = {
  type: 'object',
  properties: {
    decision: { type: 'string', enum: ['yes', 'no'] },
    note: { type: 'string', title: 'Note', pattern: '^[A-Z]' },
  },
  required: ['decision', 'note'],
};
const asks = (id: string, more: object = {}) => ({
  id,
  type: 'human',
  config: { prompt: 'Publish {{in}}?', assignee: 'editors', form: FORM },
  ...more,
});

describe('runs of the language', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const run = async (workflow: Workflow, inputs = {}): Promise<string> => {
    await stage.api.save(workflow);
    return stage.api.start(workflow.name, inputs);
  };
  const watch = (runId: string, path = ''): Promise<Page> =>
    browser.open(`${stage.parley.url}/runs/${runId}${path}`, { width: 1600 });
  const details = (page: Page) => page.getByRole('complementary', { name: 'Details' });
  const result = (page: Page, text: string) =>
    page.getByRole('region', { name: 'Result', exact: true }).getByText(text).first().waitFor();
  const badge = (page: Page, id: string, text: string) => nodeOf(page, id).locator(`[data-badge="${text}"]`);
  const edge = (page: Page, id: string, how: string) =>
    page.locator(`.react-flow__edge[data-id="${id}"][aria-label*="${how}"]`);

  inBrowser('shows the result first, the iterations of a loop, and leads to earlier ones', async () => {
    const workflow = language(
      'loop',
      [
        { id: 'in', type: 'input' },
        { id: 'draft', type: 'agent', config: { prompt: "${'Draft ' + string(iteration)} of {{in}}" } },
        { id: 'review', type: 'set', config: { values: { good: '${iteration >= 2}' } } },
        { id: 'out', type: 'output', config: { prompt: '# {{draft}}' } },
      ],
      [
        { from: 'in', to: 'draft' },
        { from: 'draft', to: 'review' },
        { from: 'review', to: 'draft', loop: { max_iterations: 3, exit_when: 'nodes.review.data.good' } },
        { from: 'review', to: 'out' },
      ],
    );
    const page = await watch(await run(workflow, { in: 'x' }));
    const shown = page.getByRole('region', { name: 'Result', exact: true });
    await shown.getByRole('heading', { name: 'Draft 2 of x' }).waitFor();
    await page.locator('[data-iterations="2/3"]').waitFor();
    await page.getByText('its condition held').waitFor();
    await edge(page, 'review->draft', 'taken').waitFor({ state: 'attached' });
    await nodeOf(page, 'draft').click();
    await details(page).getByRole('heading', { name: 'draft@2' }).waitFor();
    await details(page).getByRole('button', { name: 'Earlier iteration' }).click();
    await page.waitForURL('**/nodes/draft%401');
    await details(page).getByRole('region', { name: 'Output' }).getByText('Draft 1 of x').first().waitFor();
    await page.reload();
    await details(page).getByRole('heading', { name: 'draft@1' }).waitFor();
    await details(page).getByRole('button', { name: 'Close details' }).click();
    expect(await copied(shown.getByRole('button', { name: 'Copy the result' }))).toBe('# Draft 2 of x');
    await shown.getByRole('button', { name: 'Enlarge the result' }).click();
    await page.getByRole('dialog', { name: 'Result' }).getByRole('heading', { name: 'Draft 2 of x' }).waitFor();
  });

  inBrowser('says what was not chosen, and why', async () => {
    const workflow = language(
      'choice',
      [
        { id: 'ticket', type: 'input', branch: 'first' },
        { id: 'page', type: 'agent', config: { prompt: 'Paged' } },
        { id: 'queue', type: 'agent', config: { prompt: 'Queued' } },
        { id: 'out', type: 'output' },
      ],
      [
        { from: 'ticket', to: 'page', when: "nodes.ticket.text.contains('down')" },
        { from: 'ticket', to: 'queue' },
        { from: 'page', to: 'out' },
        { from: 'queue', to: 'out' },
      ],
    );
    const page = await watch(await run(workflow, { ticket: 'a typo' }));
    await nodeReaches(page, 'out', 'completed');
    await nodeOf(page, 'page').getByText('Not chosen').waitFor();
    for (const [id, how] of [
      ['ticket->page', ', not taken'],
      ['ticket->queue', ', taken'],
      ['page->out', ', not taken'],
      ['queue->out', ', taken'],
    ] as const)
      await edge(page, id, how).waitFor({ state: 'attached' });
    await page.locator('[data-edge-label="ticket->page"]').click();
    await page.locator('[data-cause]').getByText('its condition did not hold').waitFor();
    await nodeOf(page, 'page').click();
    await page.locator('[data-cause]').getByText('no edge to it was taken, from ticket.').waitFor();
  });

  inBrowser('shows how far a node is with its list, and each entry by its status', async () => {
    const workflow = language(
      'each',
      [
        { id: 'list', type: 'input', config: { schema: { type: 'array', items: { type: 'string' } } } },
        {
          id: 'number',
          type: 'set',
          config: { values: { n: '${int(item)}' } },
          each: { items: 'inputs.list', onFailure: 'collect' },
        },
        { id: 'out', type: 'output' },
      ],
      [
        { from: 'list', to: 'number' },
        { from: 'number', to: 'out' },
      ],
    );
    const page = await watch(await run(workflow, { list: ['1', 'x', '3'] }));
    await nodeReaches(page, 'number', 'completed');
    await nodeOf(page, 'number').getByText('3 of 3').waitFor();
    await nodeOf(page, 'number').click();
    const byStatus = details(page).getByRole('group', { name: 'Entries by status' });
    await byStatus.getByRole('button', { name: '2 completed' }).waitFor();
    await byStatus.getByRole('button', { name: '1 failed' }).click();
    await page.locator('[data-entry="number[0]"]').waitFor({ state: 'detached' });
    await page.locator('[data-entry="number[1]"]').click();
    await page.waitForURL('**/nodes/number%5B1%5D');
    await details(page).getByRole('region', { name: 'Entry 2' }).getByText('x', { exact: true }).waitFor();
    await page.locator('[data-cause]').waitFor();
    await details(page).getByRole('button', { name: 'All entries of number' }).click();
    await byStatus.waitFor();
  });

  inBrowser('counts attempts, and says when the next one is and until when a node waits', async () => {
    const workflow = language(
      'waits',
      [
        { id: 'in', type: 'input' },
        fails('again', { retry: { attempts: 3, on: ['failed'], delay: '2h', maxDelay: '2h' } }),
        { id: 'later', type: 'wait', config: { for: '3h' } },
        fails('spare', { fallback: { parts: [{ text: 'Nothing' }] } }),
      ],
      [
        { from: 'in', to: 'again' },
        { from: 'in', to: 'later' },
        { from: 'in', to: 'spare' },
      ],
    );
    const page = await watch(await run(workflow, { in: 'x' }));
    await nodeOf(page, 'again').getByText('Retry').waitFor();
    await nodeOf(page, 'again').getByText(/in \d/).waitFor();
    await nodeOf(page, 'again').getByRole('img', { name: '1 of 3 attempts' }).waitFor();
    await nodeOf(page, 'later').getByText('Waits until').waitFor();
    await badge(page, 'spare', '✓ fallback').waitFor();
    await nodeOf(page, 'again').click();
    await page.locator('[data-cause]').getByText('Attempt 1 failed').waitFor();
    await details(page).getByText('The next one at').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await nodeReaches(page, 'later', 'canceled');
  });

  inBrowser('asks with the fields of a form, refuses what does not fit, and has it in the inbox', async () => {
    const workflow = language(
      'asks',
      [
        { id: 'in', type: 'input' },
        asks('gate', { onWait: { deadline: '48h', default: { decision: 'no', note: 'Late' } } }),
        { id: 'out', type: 'output', config: { prompt: '${nodes.gate.data.note}' } },
      ],
      [
        { from: 'in', to: 'gate' },
        { from: 'gate', to: 'out' },
      ],
    );
    const runId = await run(workflow, { in: 'it' });
    const page = await watch(runId);
    await nodeReaches(page, 'gate', 'input-required');
    const form = page.getByRole('form', { name: 'Answer to gate' });
    await form.getByText('Publish it?').waitFor();
    await details(page).getByText('For editors').waitFor();
    await details(page)
      .getByText(/Due .*, in 47 h/)
      .waitFor();
    await form.getByRole('radio', { name: 'yes' }).check();
    await form.getByLabel('Note').fill('small');
    await form.getByRole('button', { name: 'Send answer' }).click();
    await form.getByRole('alert').first().waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);

    await page.goto(`${stage.parley.url}/inbox?assignee=editors`);
    const question = page.getByRole('listitem').filter({ hasText: workflow.name });
    await question.getByText('Publish it?').waitFor();
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByRole('radio', { name: 'yes' }).check();
    await question.getByLabel('Note').fill('Large');
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await question.getByRole('button', { name: 'Send answer' }).click();
    await question.waitFor({ state: 'detached' });
    await page.goto(`${stage.parley.url}/runs/${runId}`);
    await result(page, 'Large');
  });

  inBrowser('answers the iteration and the entry that asks', async () => {
    const workflow = language(
      'each_asks',
      [
        { id: 'in', type: 'input' },
        { id: 'gate', type: 'human', config: { prompt: 'Is ${item} fine?' }, each: { items: "['a', 'b']" } },
        { id: 'out', type: 'output', config: { prompt: "${nodes.gate.data.join('+')}" } },
      ],
      [
        { from: 'in', to: 'gate' },
        { from: 'gate', to: 'out' },
      ],
    );
    const page = await watch(await run(workflow, { in: 'x' }));
    await page.locator('[data-cause]').getByText('Waits for 2 answers.').waitFor();
    await page.getByLabel('Answer to gate[1]').fill('two');
    await page.getByRole('button', { name: 'Send answer' }).nth(1).click();
    await page.getByLabel('Answer to gate[1]').waitFor({ state: 'detached' });
    await page.getByLabel('Answer to gate[0]').fill('one');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await result(page, 'one+two');
  });

  inBrowser('finds runs by a piece of their workflow, or the beginning of their id', async () => {
    const workflow = language('findable', [{ id: 'topic', type: 'input' }], []);
    const runId = await run(workflow, { topic: 'a needle' });
    const page = await browser.open(`${stage.parley.url}/runs`);
    const search = page.getByRole('searchbox', { name: 'Search runs' });
    await search.fill(workflow.name.slice(3).toUpperCase());
    const row = page.getByRole('row').filter({ hasText: workflow.name });
    await row.getByText('topic: a needle').waitFor();
    await row.getByTitle(runId).waitFor();
    await search.fill(`${runId}x`);
    await page.getByText('No run matches').waitFor();
    await search.fill(runId);
    await page.getByRole('link', { name: workflow.name }).click();
    await page.waitForURL(`**/runs/${runId}`);
  });

  inBrowser('lists runs while others begin without a pause', async () => {
    const { name } = await stage.api.save(linear(unique('busy'), input('in'), output('out')));
    const page = await browser.open(`${stage.parley.url}/runs?q=${name}`);
    await page.getByText('No run matches').waitFor();
    let listed = false;
    const seen = page
      .getByRole('link', { name })
      .first()
      .waitFor()
      .finally(() => (listed = true));
    const begin = async (): Promise<void> => {
      while (!listed) await stage.api.start(name, { in: 'x' });
    };
    await Promise.all([seen, begin(), begin(), begin(), begin()]);
  });

  inBrowser('keeps the runs that are shown while more of them are fetched', async () => {
    const { name } = await stage.api.save(linear(unique('many'), input('in')));
    for (let count = 0; count < 110; count += 1) await stage.api.ended(await stage.api.start(name, { in: 'x' }));
    const page = await browser.open(`${stage.parley.url}/runs?q=${name}`);
    const rows = page.getByRole('link', { name });
    const table = page.getByRole('table', { name: 'Runs' });
    await rows.first().waitFor();
    let fetchNext = (): void => undefined;
    const held = new Promise<void>((resolve) => (fetchNext = resolve));
    const asked = page.waitForRequest(/\/api\/runs\?/);
    await page.route(/\/api\/runs\?/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('region', { name: 'Runs' }).evaluate((it) => it.scrollTo(0, it.scrollHeight));
    await asked;
    expect(await table.getAttribute('aria-rowcount')).toBe('101');
    fetchNext();
    await until(async () => (await table.getAttribute('aria-rowcount')) === '111', { what: 'all 110 runs' });
  });

  inBrowser('shows a child run in place, and leads to it', async () => {
    const child = await stage.api.save({
      name: unique('child'),
      nodes: [
        { id: 'who', type: 'input' },
        { id: 'hello', type: 'output', config: { prompt: 'Hello, {{who}}!' } },
      ],
      edges: [{ from: 'who', to: 'hello' }],
    });
    const workflow = language(
      'parent',
      [
        { id: 'name', type: 'input' },
        { id: 'greet', type: 'workflow', config: { workflow: child.name, inputs: { who: '${nodes.name.text}' } } },
        { id: 'out', type: 'output' },
      ],
      [
        { from: 'name', to: 'greet' },
        { from: 'greet', to: 'out' },
      ],
    );
    const page = await watch(await run(workflow, { name: 'Ada' }), '/nodes/greet');
    await nodeReaches(page, 'greet', 'completed');
    await details(page).getByRole('button', { name: 'Show it here' }).click();
    const inside = details(page).getByRole('region', { name: `Run of ${child.name}` });
    await inside.getByRole('link', { name: 'hello' }).waitFor();
    await details(page)
      .getByRole('link', { name: `Follow its run of ${child.name}` })
      .click();
    await result(page, 'Hello, Ada!');
  });

  inBrowser('says what a node is doing while its agent works, and what it has made so far', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always({
      steps: [
        { status: 'TASK_STATE_WORKING', text: 'Reading the third page' },
        { artifact: { artifactId: 'a', parts: [{ text: 'So far ' }] } },
        { artifact: { artifactId: 'a', parts: [{ text: 'so good' }] }, append: true },
        { hold: true },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const workflow = language('progress', [external('far', fake.url)], []);
    const page = await watch(await run(workflow));
    await nodeOf(page, 'far').getByText('Reading the third page').waitFor();
    await nodeOf(page, 'far').click();
    const soFar = details(page).getByRole('region', { name: 'So far' });
    await soFar.getByText('So far so good').waitFor();
    fake.release();
    await nodeReaches(page, 'far', 'completed');
    await soFar.waitFor({ state: 'detached' });
  });

  inBrowser('runs again what failed, from a node on, or with other inputs, and links the runs', async () => {
    const workflow = language(
      'again',
      [
        { id: 'in', type: 'input' },
        { id: 'first', type: 'agent', config: { prompt: 'First {{in}}' } },
        { id: 'second', type: 'agent', config: { prompt: 'Second {{in}}' } },
        { id: 'out', type: 'output', config: { prompt: '{{first}}, {{second}}' } },
      ],
      [
        { from: 'in', to: 'first' },
        { from: 'first', to: 'second' },
        { from: 'second', to: 'out' },
      ],
    );
    const origin = await run(workflow, { in: 'x' });
    const page = await watch(origin, '/nodes/second');
    await nodeReaches(page, 'out', 'completed');
    await details(page).getByRole('button', { name: 'Run again from second' }).click();
    await page.waitForURL((url) => !url.pathname.includes(origin));
    await nodeReaches(page, 'out', 'completed');
    await badge(page, 'first', 'reused').waitFor();
    expect(await badge(page, 'second', 'reused').count()).toBe(0);
    await nodeOf(page, 'first').click();
    await details(page).getByRole('link', { name: 'an earlier run' }).click();
    await page.waitForURL(`**/runs/${origin}/nodes/first`);
    await details(page).getByRole('button', { name: 'Close details' }).click();
    await details(page)
      .getByRole('list', { name: 'Reruns of this run' })
      .getByRole('link', { name: /^Run again/ })
      .waitFor();
    await page.getByRole('button', { name: 'Run again', exact: true }).press('Enter');
    await page.getByRole('menuitem', { name: /With other inputs/ }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('With other inputs').check();
    await dialog.getByRole('textbox', { name: 'in' }).fill('y');
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL((url) => !url.pathname.includes(origin));
    await result(page, 'First y, Second y');
    await details(page).getByRole('region', { name: 'Related runs' }).getByText('Rerun of').waitFor();
  });
});
