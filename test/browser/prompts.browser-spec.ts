import type { JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { copied } from '../support/console-page.js';
import type { FakeAnswer } from '../support/fake-llm.js';
import { keepModel } from '../support/kept-model.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, linear, output, unique } from '../support/workflow.js';

describe('a step of a transcript', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('unfolds what the model was sent and what came back, to be copied', async () => {
    const { llm, name } = await keepModel(stage.api, stage.defer);
    llm.answer = ({ messages }: JsonObject): FakeAnswer =>
      (messages as JsonObject[]).some(({ role }) => role === 'tool')
        ? { text: 'It is 42.', usage: { input: 40, output: 4 } }
        : { toolCalls: [{ id: 'c', name: 'calculator', args: { expression: '6 * 7' } }] };
    const config = { model: name, system_prompt: 'You do sums.', prompt: 'Six by seven?', tools: ['calculator'] };
    const workflow = linear(unique('sums'), echo('a', { ...config, temperature: 0.3 }), output('out'));
    const { runId } = await stage.api.finish(workflow);
    const page = await browser.open(`${stage.parley.url}/runs/${runId}/nodes/a`);
    const step = page.locator('[data-step="model"]').nth(1);

    await step.getByRole('button', { name: 'Sent' }).click();
    await step.getByText('openai-compatible fake').waitFor();
    expect(await step.getByRole('region', { name: 'System prompt' }).innerText()).toBe('You do sums.');
    expect(await step.getByRole('region', { name: 'user' }).innerText()).toBe('Six by seven?');
    await step.getByRole('region', { name: 'Tools' }).waitFor();
    await step.getByText('0.3').waitFor();
    const sent = JSON.parse(await copied(step.getByRole('button', { name: 'Copy what was sent' }))) as {
      messages: JsonObject[];
    };
    expect(sent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);

    await step.getByRole('button', { name: 'Received' }).click();
    await step.getByText('40 + 4 tokens').waitFor();
    expect(await step.getByRole('region', { name: 'assistant' }).last().innerText()).toBe('It is 42.');
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser('is edited, and continues the run as a rerun from its node', async () => {
    const { llm, name } = await keepModel(stage.api, stage.defer);
    llm.answer = ({ messages }): string =>
      `You said: ${JSON.stringify((messages as JsonObject[]).at(-1)?.['content'])}`;
    const agent = echo('a', { model: name, prompt: 'Six by seven?' });
    const { runId } = await stage.api.finish(linear(unique('edits'), agent, output('out')));
    const page = await browser.open(`${stage.parley.url}/runs/${runId}/nodes/a`);
    const step = page.locator('[data-step="model"]').first();
    await step.getByRole('button', { name: 'Sent' }).click();
    await step.getByRole('button', { name: 'Edit and run again' }).click();
    const field = step.getByLabel('Edited prompt');
    expect(await field.inputValue()).toBe('Six by seven?');
    await field.fill('Six by {{eight}}?');
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await step.getByRole('button', { name: 'Run again from a' }).click();
    await page.waitForURL((url) => !url.pathname.includes(runId));
    await page
      .getByRole('group', { name: 'Output, rendered' })
      .getByText(/You said: .*Six by \{\{eight\}\}\?/)
      .waitFor();
    await page.getByRole('button', { name: 'Close details' }).click();
    const related = page.getByRole('region', { name: 'Related runs' });
    await related.getByText('The prompt of a was edited.').waitFor();
    await related.getByRole('link', { name: 'an earlier run' }).click();
    await page.waitForURL(`**/runs/${runId}`);
  });
});
