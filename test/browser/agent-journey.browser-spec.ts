import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { inBrowser, seriousFaults, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { copied, drawEdge, nodeOf, nodeReaches } from '../support/console-page.js';
import { Talks } from '../support/conversation.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, linear, unique, type Workflow } from '../support/workflow.js';

const ANSWER = ['# Tidy\n\n', '1. found it,\n', '2. **erased** it.\n'];

describe('agents with tools in the console', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  let llm: FakeLlm;
  let mcp: McpHttpServer;
  let model: string;
  let server: string;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    mcp = await McpHttpServer.start();
    stage.defer(() => Promise.all([llm.stop(), mcp.stop()]));
    mcp.tools = [
      { name: 'search', description: 'Searches pages', annotations: { readOnlyHint: true } },
      { name: 'erase', description: 'Erases a page' },
    ];
    model = unique('model');
    const kept = { name: model, provider: 'openai-compatible', model: 'house', baseUrl: llm.url };
    expect((await stage.api.call('POST', '/models', kept)).status).toBe(201);
    server = await keepMcpServer(stage.api, { url: mcp.url });
  });

  /** The model looks for a page and erases it, then answers in pieces, each when it is let go. */
  const scripted = (): { letGo: () => void }[] => {
    const gates = ANSWER.slice(1).map(() => Promise.withResolvers<void>());
    llm.answer = ({ messages }): FakeAnswer => {
      const last = (messages as unknown as { role: string }[]).at(-1);
      if (last?.role !== 'tool') {
        const calls: NonNullable<FakeAnswer['toolCalls']> = [
          { id: 'c1', name: `${server}__search`, args: { query: 'old pages' } },
          { id: 'c2', name: `${server}__erase`, args: { page: 'old' } },
        ];
        return { text: 'Let me look.', toolCalls: calls, usage: { input: 40, output: 5 } };
      }
      const text = ANSWER.flatMap((piece, index) => (index === 0 ? [piece] : [gates[index - 1]?.promise ?? '', piece]));
      return { text, usage: { input: 60, output: 9 } };
    };
    return gates.map(({ resolve }) => ({ letGo: resolve }));
  };

  const draw = async (page: Page, name: string): Promise<void> => {
    await page.getByLabel('Name', { exact: true }).fill(name);
    const palette = page.getByRole('group', { name: 'Node types' });
    const pane = page.locator('.react-flow__pane');
    for (const [index, label] of ['User Input', 'Agent', 'Output'].entries()) {
      const targetPosition = { x: 110 + index * 190, y: 200 + index * 90 };
      await palette.getByRole('button', { name: label, exact: true }).dragTo(pane, { targetPosition });
    }
    await drawEdge(page, 'input1', 'agent1');
    await drawEdge(page, 'agent1', 'output1');
  };

  inBrowser('a person builds one, runs it, approves a call, watches the text grow, and copies the result', async () => {
    const [second, third] = scripted();
    const name = unique('agent');
    const page = await browser.open(`${stage.parley.url}/workflows/new`, { width: 1500 });
    await draw(page, name);
    await nodeOf(page, 'agent1').click();
    await page.getByLabel('Prompt', { exact: true }).fill('Tidy up: {{input1}}');
    await page.getByLabel('Model', { exact: true }).fill(model);
    await page.locator('[data-panel] p', { hasText: 'house, OpenAI-compatible endpoint' }).waitFor();
    await page.getByRole('button', { name: 'Tools', exact: true }).click();
    await page.getByRole('button', { name: `Tools of ${server}` }).click();
    const choices = page.getByRole('list', { name: `Tools of ${server}` });
    await choices.getByRole('checkbox', { name: 'search' }).check();
    await choices.getByRole('checkbox', { name: 'erase' }).check();
    await page.getByLabel(`Ask before ${server}/erase is called`).check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL(`**/workflows/edit/${name}`);
    const { body } = await stage.api.call<Workflow>('GET', `/workflows/${name}`);
    expect(body.nodes.find(({ id }) => id === 'agent1')?.config).toEqual({
      prompt: 'Tidy up: {{input1}}',
      model,
      tools: [`${server}/search`, `${server}/erase`],
      approve: [`${server}/erase`],
    });

    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('textbox', { name: 'input1' }).fill('the old pages');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL('**/runs/*');
    await nodeReaches(page, 'agent1', 'input-required');
    await page
      .locator('[data-cause]')
      .getByText(`May the tool "${server}/erase" be called with {"page":"old"}?`)
      .waitFor();
    expect(mcp.calls.map(({ tool }) => tool)).toEqual(['search']);
    await nodeOf(page, 'agent1').click();
    const steps = page.locator('[data-step]');
    await steps.nth(2).getByText('Waiting for approval').waitFor();
    await steps.nth(0).getByText('Let me look.').waitFor();
    await steps.nth(0).getByText('40 → 5 tokens').waitFor();
    await steps.nth(1).getByRole('button', { name: 'Arguments' }).click();
    await steps
      .nth(1)
      .getByRole('region', { name: `Arguments of ${server}/search` })
      .getByText('old pages')
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('group', { name: 'Answer to agent1' }).getByRole('button', { name: 'Yes' }).click();

    const live = page.locator('[data-live-text]');
    await live.getByRole('heading', { name: 'Tidy' }).waitFor();
    expect(await live.getByRole('listitem').count()).toBe(0);
    second?.letGo();
    await live.getByRole('listitem').filter({ hasText: 'found it' }).waitFor();
    third?.letGo();
    await nodeReaches(page, 'agent1', 'completed');
    await steps.nth(2).getByText('the answer was yes').waitFor();
    await page.getByText('100 → 14 tokens').waitFor();
    expect(mcp.calls.map(({ tool }) => tool)).toEqual(['search', 'erase']);
    const runId = new URL(page.url()).pathname.split('/')[2] ?? '';
    const told = (await (await stage.api.events(runId)).all()).map(({ event }) => event);
    expect(told.filter((it) => it?.startsWith('tool.') || it === 'node.resumed')).toEqual([
      'tool.call',
      'tool.result',
      'tool.call',
      'tool.result',
    ]);

    await page.getByRole('button', { name: 'Close details' }).click();
    const result = page.getByRole('region', { name: 'Result', exact: true });
    await result.locator('strong', { hasText: 'erased' }).waitFor();
    const names = await namesOf(result.getByRole('button', { name: 'Copy the result' }));
    expect(await copied(result.getByRole('button', { name: 'Copy the result' }))).toBe(ANSWER.join(''));
    await until(async () => (await names()).includes('Copied'), { what: 'a word that it was copied' });
    const saving = page.waitForEvent('download');
    await result.getByRole('button', { name: 'Download the result' }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe(`${name}.md`);
    expect(readFileSync(await file.path(), 'utf8')).toBe(ANSWER.join(''));
  });

  inBrowser(
    'agents are chosen as tools with the keyboard: workflows, nodes and any URL, some of them asked about',
    async () => {
      const [poet, name, url] = [unique('poet'), unique('caller'), 'https://critic.example/a2a'];
      await stage.api.save({ ...linear(poet, echo('rhyme')), description: 'Writes verse' });
      await stage.api.save(linear(name, echo('a', { tools: [{ agent: poet, name: 'bard', maxCalls: 2 }] })));
      const page = await browser.open(`${stage.parley.url}/workflows/edit/${name}`);
      await nodeOf(page, 'a').click();
      await page
        .getByRole('button', { name: /^Tools/ })
        .first()
        .click();
      await page.getByRole('button', { name: /^Agents/ }).click();
      const settings = page.getByRole('list', { name: 'Agents with settings' });
      await settings.getByText('agent:bard').waitFor();
      await page.getByLabel('Ask before agent:bard is called').check();
      const field = page.getByLabel('Add an agent');
      const options = page.getByRole('listbox', { name: 'Agents' }).getByRole('option');
      await field.pressSequentially(poet);
      // The workflow itself is chosen already.
      const offered = async (): Promise<string> => (await options.locator('code').allTextContents()).join();
      await until(async () => (await offered()) === `workflows/${poet}/nodes/rhyme`, {
        what: 'the agent to be offered',
      });
      await page.keyboard.press('ArrowDown');
      expect(await options.first().getAttribute('aria-selected')).toBe('true');
      expect(await seriousFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await field.fill(url);
      await page.getByRole('button', { name: 'Show the agent card' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Enter');
      await page.getByLabel(`Ask before agent:${url} is called`).check();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Not saved').waitFor({ state: 'detached' });
      const { body } = await stage.api.call<Workflow>('GET', `/workflows/${name}`);
      expect(body.nodes[0]?.config).toEqual({
        tools: [`agent:workflows/${poet}/nodes/rhyme`, `agent:${url}`, { agent: poet, name: 'bard', maxCalls: 2 }],
        approve: ['agent:bard', `agent:${url}`],
      });
    },
  );

  inBrowser('sets whatever the config of one may say, and is told at once what may not stand there', async () => {
    const name = unique('config');
    await stage.api.save(linear(name, echo('a', { tools: [`${server}/*`] })));
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${name}`);
    await nodeOf(page, 'a').click();
    const panel = page.locator('[data-panel="agent"]');
    const open = (section: string) =>
      panel
        .getByRole('button', { name: new RegExp(`^${section}`) })
        .first()
        .click();
    await open('Tools');
    // The servers move what is below them, also from under the pointer.
    await panel.getByRole('button', { name: `Tools of ${server}` }).waitFor();
    for (const section of ['Other models', 'Output', 'Memory', 'Limits']) await open(section);
    expect(await panel.locator('button[aria-expanded="true"]').count()).toBe(5);
    await page.getByRole('button', { name: 'Built-in tools' }).click();
    await page.getByRole('checkbox', { name: 'calculator' }).check();
    await page.getByLabel('Ask first about').fill(`${server}/er*`);
    await page.keyboard.press('Enter');
    await page.getByLabel('Add a tool').fill('no_such_tool');
    await page.keyboard.press('Enter');
    await page.locator('[data-panel]').getByRole('alert').getByText('tools[2] must be one of').waitFor();
    await page.getByRole('button', { name: 'Remove no_such_tool' }).click();
    await page.getByLabel('Next model to ask').fill(model);
    await page.keyboard.press('Enter');
    await page.getByLabel('Answer type').selectOption('json');
    await page.getByLabel('Temperature').fill('0.2');
    await page.getByLabel('Remembers').selectOption('none');
    await page.getByLabel('Calls of the model').fill('4');
    await page.getByLabel('Tokens for one answer').fill('9000');
    await page.getByLabel('Interrupted tool call').selectOption('fail');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    const { body } = await stage.api.call<Workflow>('GET', `/workflows/${name}`);
    expect(body.nodes[0]?.config).toEqual({
      tools: [`${server}/*`, 'calculator'],
      approve: [`${server}/er*`],
      fallbacks: [model],
      output: { type: 'object' },
      temperature: 0.2,
      history: 'none',
      maxSteps: 4,
      budget: { tokens: 9000 },
      onUncertain: 'fail',
    });
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser('shows what one says in a conversation while it speaks, and its steps afterwards', async () => {
    const name = unique('talk');
    const gates = scripted();
    await stage.api.save(linear(name, echo('a', { model, tools: [`${server}/*`] })));
    const agent = `workflows/${name}/nodes/a`;
    const id = await new Talks(stage.api).start({ target: agent, message: 'Tidy up', maxTurns: 0, timeoutMs: 600_000 });
    const page = await browser.open(`${stage.parley.url}/conversations/${id}`);
    await page.getByRole('heading', { name: `Somebody → ${agent}` }).waitFor();
    await page.locator('[data-typing] [data-live-text]').getByRole('heading', { name: 'Tidy' }).waitFor();
    for (const gate of gates) gate.letGo();
    const turn = page.locator('[data-turn="1"]');
    await turn.locator('strong', { hasText: 'erased' }).waitFor();
    await turn.getByRole('button', { name: 'Steps' }).click();
    await turn.locator('[data-step]').nth(3).waitFor();
    expect(await turn.locator('[data-step]').evaluateAll((all) => all.map((it) => it.dataset['step']))).toEqual([
      'model',
      'tool',
      'tool',
      'model',
    ]);
  });
});

/** Returns a function that reads the names that a button has had since, however short each of them was there. */
async function namesOf(button: Locator): Promise<() => Promise<string[]>> {
  const seen = await button.evaluateHandle((it) => {
    const names: string[] = [];
    const note = (): unknown => names.push(it.getAttribute('aria-label') ?? '');
    const { MutationObserver: Observer } = it.ownerDocument.defaultView!;
    new Observer(note).observe(it, { attributeFilter: ['aria-label'] });
    return names;
  });
  return () => seen.jsonValue();
}
