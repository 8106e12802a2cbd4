import { inBrowser, useBrowser } from '../support/browser.js';
import { drawEdge, nodeOf, nodeReaches } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

/** Content with the third draft, or with one that a person has changed. */
const CRITIC = {
  rules: [
    {
      when: { text: 'Draft 3' },
      steps: [{ artifact: { parts: [{ data: { good: true, advice: '' } }] } }, { complete: 'done' }],
    },
  ],
  otherwise: [
    { artifact: { parts: [{ data: { good: false, advice: 'Say it with fewer words' } }] } },
    { complete: 'done' },
  ],
};

describe('a loop with a critic, from an empty canvas to a second run', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser(
    'builds it by hand, runs it, watches the iterations, answers a form, and runs it again from a node',
    async () => {
      const name = unique('critic');
      const page = await browser.open(`${stage.parley.url}/workflows/new`, { width: 1700, height: 1000 });
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'How it runs' }).click();
      await page.getByLabel('Expressions in texts').check();
      const pane = page.locator('.react-flow__pane');
      for (const [index, type] of ['input', 'agent', 'script', 'human', 'output'].entries()) {
        const targetPosition = { x: 115 + index * 190, y: 160 + (index % 2) * 140 };
        await page.locator(`[data-palette="${type}"]`).dragTo(pane, { targetPosition });
      }
      await nodeOf(page, 'agent1').click();
      await page.getByLabel('Prompt', { exact: true }).fill('Draft ${iteration} on {{input1}}');
      await nodeOf(page, 'script1').click();
      await page.getByRole('textbox', { name: 'Script' }).fill(JSON.stringify(CRITIC));
      await nodeOf(page, 'human1').click();
      await page.getByLabel('Question').fill('Publish "{{agent1}}"?');
      await page.getByLabel('Answer', { exact: true }).selectOption('fields');
      await page.getByRole('button', { name: 'Add a field' }).click();
      await page.getByLabel('Field name').fill('decision');
      await page.getByLabel('Kind').selectOption('choice');
      await page.getByLabel('Choices').fill('yes\nno');
      await nodeOf(page, 'output1').click();
      await page.getByLabel('Prompt', { exact: true }).fill('${nodes.human1.data.decision}: {{agent1}}');
      await drawEdge(page, 'input1', 'agent1');
      await drawEdge(page, 'agent1', 'script1');
      await drawEdge(page, 'script1', 'human1');
      await drawEdge(page, 'human1', 'output1');
      await nodeOf(page, 'script1').locator('.source').hover();
      await page.mouse.down();
      await nodeOf(page, 'agent1').locator('.target').hover();
      await page.mouse.up();
      const loop = page.getByRole('dialog', { name: 'Make this a loop?' });
      await loop.getByLabel('Iterations at most').fill('5');
      await loop.getByLabel('Until').fill('nodes.script1.data.good');
      await loop.locator('[data-expression="valid"]').waitFor();
      await loop.getByRole('button', { name: 'Make a loop' }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.waitForURL(`**/workflows/edit/${name}`);

      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('textbox', { name: 'input1' }).fill('pelicans');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.waitForURL('**/runs/*');
      const origin = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      await nodeReaches(page, 'human1', 'input-required');
      await page.locator('[data-iterations="3/5"]').waitFor();
      await page
        .getByRole('group', { name: /^Iteration/ })
        .getByRole('button', { name: 'Earlier iteration' })
        .click();
      await nodeOf(page, 'agent1').click();
      const details = page.getByRole('complementary', { name: 'Details' });
      await details.getByRole('heading', { name: 'agent1@2' }).waitFor();
      await details.getByRole('region', { name: 'Output' }).getByText('Draft 2 on pelicans').first().waitFor();

      await nodeOf(page, 'human1').click();
      const form = page.getByRole('form', { name: 'Answer to human1' });
      await form.getByText('Publish "Draft 3 on pelicans"?').waitFor();
      await form.getByRole('radio', { name: 'no' }).check();
      await form.getByRole('button', { name: 'Send answer' }).click();
      await nodeReaches(page, 'output1', 'completed');

      await details.getByRole('button', { name: 'Run again from human1' }).click();
      await page.waitForURL((url) => !url.pathname.includes(origin));
      await nodeReaches(page, 'human1', 'input-required');
      await nodeOf(page, 'script1').locator('[data-badge="reused"]').waitFor();
      await form.getByRole('radio', { name: 'yes' }).check();
      await form.getByRole('button', { name: 'Send answer' }).click();
      await page
        .getByRole('region', { name: 'Result', exact: true })
        .getByText('yes: Draft 3 on pelicans')
        .first()
        .waitFor();
    },
  );
});
