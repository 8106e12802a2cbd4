import { inBrowser, useBrowser } from '../support/browser.js';
import { nodeOf } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, input, linear, unique } from '../support/workflow.js';

describe('the note that no model is set up', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser(
    'stands at the node, at the result and in the settings, unless echo is named or a default is set',
    async () => {
      const workflow = linear(unique('echo'), input('in'), echo('writes'), echo('repeats', { model: 'echo' }));
      const { runId } = await stage.api.finish(workflow, { in: 'a haiku' });
      const page = await browser.open(`${stage.parley.url}/runs/${runId}`);
      const note = page.getByRole('note').filter({ hasText: 'No model is set up' });
      await note.waitFor();
      await note.getByRole('link', { name: 'Set one up' }).click();
      await page.waitForURL('**/settings/models');
      await note.waitFor();
      await page.goto(`${stage.parley.url}/workflows/edit/${workflow.name}`);
      await nodeOf(page, 'writes').click();
      await note.waitFor();
      await nodeOf(page, 'repeats').click();
      await note.waitFor({ state: 'detached' });

      const onPurpose = linear(unique('echo'), input('in'), echo('repeats', { model: 'echo' }));
      await page.goto(`${stage.parley.url}/runs/${(await stage.api.finish(onPurpose, { in: 'x' })).runId}`);
      await page.getByRole('region', { name: 'Result', exact: true }).waitFor();
      expect(await note.count()).toBe(0);

      await page.route('**/api/models', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), defaultModel: 'large' } });
      });
      await page.goto(`${stage.parley.url}/settings/models`);
      await page.getByRole('link', { name: 'Add a model' }).waitFor();
      expect(await note.count()).toBe(0);
    },
  );
});
