import { inBrowser, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

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
});
