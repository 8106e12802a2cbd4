import type { Page } from 'playwright-core';
import type { JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { answers } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { declaring, external, linear, ruled, script, unique } from '../support/workflow.js';

describe('the view of agents', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  const at = (path: string) => `${stage.parley.url}/agents${path}`;
  const one = (agent: string, tab = 'card') => at(`/one?${new URLSearchParams({ agent, tab })}`);
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };
  const said = (page: Page, from: 'person' | 'agent') => page.locator(`[data-from="${from}"]`);
  const lines = (page: Page, kind: 'request' | 'frame') => page.locator(`[data-line="${kind}"]`);

  inBrowser('lists served agents and those that workflows call, searches, and keeps those that are added', async () => {
    const name = unique('directory');
    const [called, added] = [await stage.fake({ name: 'called' }), await stage.fake({ name: 'added' })];
    await stage.api.save(linear(name, external('ext', called.url)));
    const page = await browser.open(at(''));
    // Searched for: the agents of other tests on the same service may fill more than a window.
    await page.getByLabel('Search agents').fill(called.url.slice(7));
    await page.getByRole('link', { name: called.url.slice(7) }).waitFor();
    await page.getByText(`Called by ${name}`).waitFor();
    await page.getByLabel('Search agents').fill('');
    await page.getByRole('table', { name: 'Agents' }).waitFor();
    // Nodes are many more than all others: they are shown to who wants them. As a text it would be any slash.
    const nodes = page.getByRole('link', { name: / \/ / });
    await nodes.first().waitFor({ state: 'detached' });
    await page.getByLabel('Nodes too').check();
    // Below the remote ones, of which other tests on the same service may have made more than a window shows.
    await page.getByRole('table', { name: 'Agents' }).hover();
    const scrolledTo = async (): Promise<boolean> => {
      await page.mouse.wheel(0, 2_000);
      return (await nodes.count()) > 0;
    };
    await until(scrolledTo, { what: 'a node in the list' });
    await page.getByLabel('Nodes too').uncheck();
    await page.getByLabel('Search agents').fill(`${name} / ext`);
    await page.getByRole('link', { name: called.url.slice(7) }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: `${name} / ext` }).click();
    await page.getByText('The card has all members that A2A 1.0 requires.').waitFor();
    await page.goto(at(''));
    await page.getByLabel('URL of a remote agent').fill('not a url');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('That is no URL').waitFor();
    await page.getByLabel('URL of a remote agent').fill(added.url);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'added' }).waitFor();
    await page.goto(at(''));
    await page.getByRole('link', { name: added.url.slice(7) }).click();
    await page.getByRole('button', { name: 'Forget' }).click();
    // Searched for: what other tests made on the same service may fill the first page.
    await page.getByLabel('Search agents').fill(added.url.slice(7));
    await page.getByRole('heading', { name: 'No agent matches' }).waitFor();
    expect(await page.getByRole('link', { name: added.url.slice(7) }).count()).toBe(0);
  });

  inBrowser('shows a remote card with what is wrong with it, and says plainly where there is none', async () => {
    const agent = await stage.fake({ name: 'a remote one' });
    const page = await browser.open(one(agent.url));
    await page.getByRole('heading', { level: 1, name: 'a remote one' }).waitFor();
    await page.getByText('A fake agent of a test').first().waitFor();
    await page.getByText('The card is not signed.').waitFor();
    await page.getByRole('table', { name: 'Interfaces' }).getByText(`${agent.url}/a2a`).waitFor();
    await page.goto(one('http://127.0.0.1:9'));
    await page.locator('[data-level="error"], [role="alert"]').first().waitFor();
  });

  inBrowser('shows what has changed in the card of an agent that was called, and accepts it', async () => {
    const agent = await stage.fake({ name: unique('changing') });
    const call = () => stage.api.finish(linear(unique('calls'), external('e', agent.url, { prompt: 'hi' })));
    await call();
    agent.options.card = {
      skills: [{ id: 'other', name: 'Other', description: 'It does something else now', tags: [] }],
    };
    await call();
    const query = new URLSearchParams({ url: agent.url });
    const { body } = await stage.api.call<{ pin: { id: string } }>('GET', `/agent-card?${query}`);
    const page = await browser.open(`${stage.parley.url}/settings/cards`);
    await page.getByRole('table', { name: 'Cards' }).waitFor();
    await page.goto(`${stage.parley.url}/settings/cards/${body.pin.id}`);
    await page.getByRole('heading', { level: 1, name: agent.options.name }).waitFor();
    await page.getByRole('table', { name: 'Changes' }).getByText('It does something else now').first().waitFor();
    await page.getByRole('button', { name: 'Accept the change' }).click();
    await page.getByText('as pinned').waitFor();
    await page.getByRole('region', { name: 'Card' }).getByText('It does something else now').waitFor();
  });

  inBrowser('talks with a served agent: it streams, waits, and goes on in the same Task', async () => {
    const name = unique('chat');
    const rules: JsonObject[] = [
      {
        when: { text: 'Paris' },
        steps: [
          { artifact: { artifactId: 'a', parts: [{ text: 'Off to ' }] } },
          { artifact: { artifactId: 'a', parts: [{ text: '**{{text}}**' }], append: true, lastChunk: true } },
          { complete: 'gone' },
        ],
      },
    ];
    await stage.api.save(linear(name, ruled('travel', rules, [{ ask: 'where to?' }])));
    const page = await browser.open(one(`workflows/${name}/nodes/travel`, 'playground'));
    await say(page, 'I want to travel');
    await said(page, 'agent').filter({ hasText: 'where to?' }).waitFor();
    await page.locator('[data-status="TASK_STATE_INPUT_REQUIRED"]').waitFor();
    const asked = await page.getByRole('link', { name: 'Task', exact: true }).getAttribute('href');
    await say(page, 'Paris');
    await said(page, 'agent').locator('strong', { hasText: 'Paris' }).waitFor();
    await page.locator('[data-status="TASK_STATE_COMPLETED"]').waitFor();
    expect(await page.getByRole('link', { name: 'Task', exact: true }).getAttribute('href')).toBe(asked);
    expect(await said(page, 'agent').filter({ hasText: 'Off to Paris' }).count()).toBe(1);
    const taskId = asked?.split('/').at(-1) ?? '';
    await lines(page, 'request').filter({ hasText: taskId }).filter({ hasText: 'SendStreamingMessage' }).waitFor();
    await lines(page, 'frame').filter({ hasText: 'TASK_STATE_COMPLETED' }).filter({ hasText: '"jsonrpc"' }).waitFor();
    await page.getByRole('button', { name: 'New context' }).click();
    await page.getByRole('heading', { name: 'Say something' }).waitFor();
  });

  inBrowser('sends files and data, shows those that come back, and refuses data that is no JSON', async () => {
    const name = unique('parts');
    await stage.api.save(linear(name, script('echo', { echo: true }, { complete: 'ok' })));
    const page = await browser.open(one(`workflows/${name}/nodes/echo`, 'playground'));
    await page
      .getByLabel('Files to send')
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('abc') });
    await page.getByRole('button', { name: 'Add data' }).click();
    await page.getByLabel('Data as JSON').fill('{');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('The data is not valid JSON.').waitFor();
    await page.getByLabel('Data as JSON').fill('{"answer": 42}');
    await page.getByRole('button', { name: 'Send' }).click();
    const answer = said(page, 'agent').first();
    await answer.getByText('"answer": 42').waitFor();
    const link = answer.getByRole('link', { name: /note\.txt/ });
    expect(await link.getAttribute('href')).toBe('data:application/octet-stream;base64,YWJj');
    expect(await link.getAttribute('download')).toBe('note.txt');
  });

  inBrowser(
    'uploads a large file for a Message, and shows it among the files, where it can be saved and deleted',
    async () => {
      const [name, file] = [unique('upload'), `${unique('large')}.bin`];
      await stage.api.save(
        linear(name, declaring('echo', { inputModes: ['*/*'] }, { echo: true }, { complete: 'ok' })),
      );
      const page = await browser.open(one(`workflows/${name}/nodes/echo`, 'playground'));
      const buffer = Buffer.alloc(3 * 1024 ** 2, 'x');
      await page.getByLabel('Files to send').setInputFiles({ name: file, mimeType: 'image/png', buffer });
      await page.getByRole('button', { name: 'Send' }).click();
      const link = said(page, 'agent').first().getByRole('link', { name: file });
      expect(await link.getAttribute('href')).toMatch(/\/api\/files\/[\da-f-]{36}$/);
      await page.goto(`${stage.parley.url}/settings/files`);
      const row = page.getByRole('row').filter({ hasText: file });
      await row.getByText('3.0 MiB').waitFor();
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        row.getByRole('button', { name: `Download ${file}` }).click(),
      ]);
      expect(saved.suggestedFilename()).toBe(file);
      page.on('dialog', (dialog) => void dialog.accept());
      await row.getByRole('button', { name: `Delete ${file}` }).click();
      await page.getByRole('alert').getByText('the file is kept as long as the Tasks that name it').waitFor();
      const free = `${unique('free')}.txt`;
      const note = { name: free, mimeType: 'text/plain', buffer: Buffer.from('abc') };
      await page.getByLabel('Files to upload').setInputFiles(note);
      const shown = page.getByRole('row').filter({ hasText: free });
      await shown.getByText('3 bytes').waitFor();
      expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
      await shown.getByRole('button', { name: `Delete ${free}` }).click();
      await shown.waitFor({ state: 'detached' });
    },
  );

  inBrowser('cancels the Task at work', async () => {
    const name = unique('cancel');
    await stage.api.save(linear(name, script('slow', { status: 'working', text: 'on it' }, { sleep: 600_000 })));
    const page = await browser.open(one(`workflows/${name}/nodes/slow`, 'playground'));
    await say(page, 'begin');
    await said(page, 'agent').filter({ hasText: 'on it' }).waitFor();
    await page.getByRole('button', { name: 'Cancel the Task' }).click();
    await page.locator('[data-status="TASK_STATE_CANCELED"]').waitFor();
    await page.getByRole('button', { name: 'Send' }).isEnabled();
  });

  inBrowser('talks with a remote agent through the service, and tells what it refuses', async () => {
    const agent = (await stage.fake({ streaming: true })).next(
      {
        steps: [
          { artifact: { parts: [{ text: 'from afar' }] } },
          { status: 'TASK_STATE_INPUT_REQUIRED', text: 'more?' },
        ],
      },
      answers('thank you'),
      { rpcError: { code: -32602, message: 'I do not like that' } },
    );
    const page = await browser.open(one(agent.url, 'playground'));
    await say(page, 'hello');
    await said(page, 'agent').filter({ hasText: 'more?' }).waitFor();
    await say(page, 'more');
    await said(page, 'agent').filter({ hasText: 'thank you' }).waitFor();
    const [first, second] = agent.sends;
    expect(first?.message?.taskId).toBeUndefined();
    expect(second?.message?.taskId).toBe(agent.taskIds()[0]);
    await say(page, 'once more');
    await page.getByRole('alert').getByText('I do not like that').waitFor();
    await lines(page, 'request').filter({ hasText: '/api/agent-messages' }).first().waitFor();
  });

  inBrowser('has nothing serious for an accessibility checker, light and dark, wide and narrow', async () => {
    const name = unique('axe');
    await stage.api.save(linear(name, script('echo', { echo: true }, { complete: 'ok' })));
    const page = await browser.open(at(''));
    for (const [url, ready] of [
      [at(''), 'table'],
      [one(`workflows/${name}/nodes/echo`), 'dl'],
      [one(`workflows/${name}/nodes/echo`, 'playground'), 'form'],
    ] as const) {
      await page.goto(url);
      await page.locator(ready).first().waitFor();
      expect([url, await seriousFaultsInEitherTheme(page)]).toEqual([url, []]);
    }
    await say(page, 'hello');
    await page.locator('[data-status="TASK_STATE_COMPLETED"]').waitFor();
    await lines(page, 'frame').filter({ hasText: 'TASK_STATE_COMPLETED' }).waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByText('JSON of every exchange').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });
});
