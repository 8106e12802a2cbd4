import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
const browser = useBrowser();

const says = (name: string, prompt: string): Workflow => linear(name, input('in'), output('out', { prompt }));
const at = (path: string): string => `${stage.parley.url}${path}`;

async function replace(workflow: Workflow): Promise<void> {
  await stage.api.call('PUT', `/workflows/${workflow.name}`, workflow);
}

describe('the history of a workflow', () => {
  inBrowser('shows what a revision added, removed and changed, on the canvas and as text', async () => {
    const name = unique('history');
    await stage.api.save(linear(name, input('in'), script('old'), output('out', { prompt: 'first' })));
    const notes = [{ text: 'Ask Mia first', position: { x: 0, y: 300 } }];
    const second = { ...linear(name, input('in'), script('new'), output('out', { prompt: 'second' })), notes };
    await replace(second);
    const page = await browser.open(at(`/workflows/edit/${name}`));
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('heading', { name: `History of ${name}` }).waitFor();
    await page.locator('[data-node="old"]').waitFor();
    const changeOf = (id: string) => page.locator(`[data-node="${id}"]`).getAttribute('data-change');
    expect(await Promise.all(['in', 'new', 'old', 'out'].map(changeOf))).toEqual([null, 'added', 'removed', 'changed']);
    expect(await page.locator('[data-node="old"] [data-badge]').innerText()).toBe('− removed');
    const changes = page.getByRole('region', { name: 'Changes' });
    expect((await changes.locator('li[data-change]').allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
      expect.stringContaining('Changed workflow'),
      expect.stringContaining('Added node new'),
      expect.stringContaining('Changed node out'),
      expect.stringContaining('Removed node old'),
      expect.stringContaining('Added edge in → new'),
      expect.stringContaining('Added edge new → out'),
      expect.stringContaining('Removed edge in → old'),
      expect.stringContaining('Removed edge old → out'),
    ]);
    await changes.getByText('config.prompt').waitFor();
    await changes.getByText('Ask Mia first').waitFor();
    await page.locator('[data-note]').getByText('Ask Mia first').waitFor();
    expect(await page.getByRole('list', { name: 'Legend' }).getByRole('listitem').count()).toBe(5);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    // The same comparison the other way around, by its address.
    await page.goto(at(`/workflows/history/${name}/1?with=2`));
    await page.locator('[data-node="old"][data-change="added"]').waitFor();
  });

  inBrowser('restores a revision after a confirmation, unless another one was saved meanwhile', async () => {
    const name = unique('restore');
    await stage.api.save(says(name, 'first'));
    await replace(says(name, 'second'));
    const page = await browser.open(at(`/workflows/history/${name}/1`));
    await page.getByText('This is the first revision that is stored.').waitFor();
    await replace(says(name, 'third'));
    await page.getByRole('button', { name: 'Restore revision 1' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Restore revision 1?' });
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog.getByText('the condition of the request does not hold').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Restore revision 1' }).click();
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('link', { name: 'Revision 4 · newest' }).and(page.locator('[aria-current="page"]')).waitFor();
    await page.getByText('restores 1').waitFor();
    const { body } = await stage.api.call<Workflow & { revision: string }>('GET', `/workflows/${name}`);
    expect([body.revision, body.nodes[1]?.config]).toEqual(['4', { prompt: 'first' }]);
    await page.goto(at(`/workflows/history/${name}/4?with=1`));
    await page.getByText('The two revisions are equal.').waitFor();
  });

  inBrowser('keeps apart the history of a deleted workflow, on a phone as well', async () => {
    const name = unique('apart');
    await stage.api.save(says(name, 'first'));
    await stage.api.call('DELETE', `/workflows/${name}`);
    await stage.api.save(says(name, 'second'));
    const page = await browser.open(at(`/workflows/history/${name}`), { width: 390, height: 844 });
    await page.getByText('An earlier workflow of this name, which was deleted').waitFor();
    await page.getByText('This is the first revision that is stored.').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });
});

describe('the revision of a run', () => {
  inBrowser('leads from a failing run to the revision since which the workflow fails', async () => {
    const name = unique('failing');
    await stage.api.finish(says(name, 'fine'), { in: 'x' });
    await replace(linear(name, input('in'), script('out', { fail: 'broken' })));
    const failed = await stage.api.ended(await stage.api.start(name, { in: 'x' }));
    const page = await browser.open(at(`/runs/${failed.runId}`));
    await page.getByRole('link', { name: 'Revision 2' }).click();
    const note = page.locator('[data-failing]');
    await note.getByText('1 run in a row').waitFor();
    await note.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('The second run: differs in revision 1 → 2, status completed → failed').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.goto(at(`/workflows/edit/${name}`));
    await page.locator('[data-failing]').getByRole('link', { name: 'revision 2' }).waitFor();
  });

  inBrowser('shows a rerun beside its original run, with what differs', async () => {
    const name = unique('beside');
    const { runId } = await stage.api.finish(says(name, 'Say {{in}}'), { in: 'tea' });
    const rerun = await stage.api.call<{ runId: string }>('POST', `/runs/${runId}/rerun`, { inputs: { in: 'coffee' } });
    await stage.api.ended(rerun.body.runId);
    const page = await browser.open(at(`/runs/${rerun.body.runId}`));
    const related = page.getByRole('region', { name: 'Related runs' });
    await related.getByText('differs in inputs (in), 2 nodes, result.').waitFor();
    await related.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByRole('row', { name: 'in tea coffee' }).waitFor();
    await page.getByRole('row', { name: /^out output Completed .* Say tea Completed .* Say coffee$/ }).waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });
});

describe('with callers', () => {
  const guarded = useSharedStage(KNOWS_CALLERS);

  inBrowser('names who saved each revision', async () => {
    const name = unique('who');
    const save = async ({ headers }: typeof ANN, prompt: string): Promise<void> =>
      void (await guarded.api.call('PUT', `/workflows/${name}`, says(name, prompt), headers));
    await save(ANN, 'first');
    await save(EVE, 'second');
    const page = await browser.open(guarded.parley.url);
    await page.getByLabel('API key', { exact: true }).fill(ANN.key);
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${guarded.parley.url}/workflows/history/${name}`);
    const entries = page.getByRole('navigation', { name: 'Revisions' }).getByRole('listitem');
    await entries.first().waitFor();
    expect(await entries.allInnerTexts()).toEqual([
      expect.stringContaining(`by ${EVE.name}`),
      expect.stringContaining(`by ${ANN.name}`),
    ]);
  });
});
