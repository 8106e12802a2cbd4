import { inBrowser, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { linear, unique } from '../support/workflow.js';

/** One more than are told at once. */
const QUESTIONS = 51;

describe('the inbox', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('keeps an answer that is being written while more questions are fetched', async () => {
    const assignee = unique('team');
    const gate = { id: 'gate', type: 'human', config: { prompt: 'Well?', assignee } };
    const { name } = await stage.api.save({ name: unique('asks'), nodes: [gate], edges: [] });
    for (let count = 0; count < QUESTIONS; count += 1) {
      await stage.api.reached(await stage.api.start(name), ['input-required']);
    }
    const page = await browser.open(`${stage.parley.url}/inbox?assignee=${assignee}`);
    const questions = page.getByRole('list', { name: 'Questions' }).getByRole('listitem');
    await questions.nth(QUESTIONS - 2).waitFor();
    await questions.first().getByRole('button', { name: 'Answer' }).click();
    const answer = questions.first().getByLabel('Answer to gate');
    await answer.fill('Half of');
    await page.getByRole('button', { name: 'Show more' }).click();
    await questions.nth(QUESTIONS - 1).waitFor();
    expect(await answer.inputValue()).toBe('Half of');
  });

  inBrowser('keeps no answer for what the node asks next', async () => {
    const assignee = unique('team');
    const form = { type: 'object', properties: { decision: { enum: ['yes', 'no'] } }, required: ['decision'] };
    const asks = (id: string, prompt: string) => ({ id, type: 'human', config: { prompt, form, assignee } });
    const child = await stage.api.save(linear(unique('two'), asks('one', 'The draft?'), asks('all', 'Everything?')));
    const sub = { id: 'sub', type: 'workflow', config: { workflow: child.name } };
    const { name } = await stage.api.save({ name: unique('asks'), nodes: [sub], edges: [] });
    const runId = await stage.api.start(name);
    await stage.api.reached(runId, ['input-required']);
    const page = await browser.open(`${stage.parley.url}/inbox?assignee=${assignee}`);
    const question = page.getByRole('list', { name: 'Questions' }).getByRole('listitem');
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByLabel('yes').check();
    // The page is slow to ask again: between the two it sees nothing.
    const asked = Promise.withResolvers<void>();
    await page.route('**/api/inbox?*', (route) => asked.promise.then(() => route.continue()));
    await stage.api.call('POST', `/runs/${runId}/answers`, { node: 'sub', parts: [{ data: { decision: 'no' } }] });
    const inbox = async () => (await stage.api.call('GET', `/inbox?assignee=${assignee}`)).text;
    await until(async () => (await inbox()).includes('Everything?'), { what: 'the second question' });
    asked.resolve();
    await question.getByText('Everything?').waitFor();
    expect(await question.getByLabel('yes').isChecked()).toBe(false);
  });
});
