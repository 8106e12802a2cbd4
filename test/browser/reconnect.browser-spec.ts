import { inBrowser, useBrowser } from '../support/browser.js';
import { Talks } from '../support/conversation.js';
import { FakeAgent } from '../support/fake-agent.js';
import { holds } from '../support/fake-behaviour.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, external, linear, unique } from '../support/workflow.js';

describe('a console whose service is killed', () => {
  const browser = useBrowser();
  let database: TestDatabase;
  let parley: Parley;
  let agent: FakeAgent;
  let port: number;
  const start = () => startParley({ databaseUrl: database.url, env: { PORT: String(port) } });

  beforeAll(async () => {
    database = await freshDatabase();
    port = await freePort();
    parley = await start();
    agent = await FakeAgent.start({ streaming: true });
    agent.always(holds('the answer'));
  });
  afterAll(async () => {
    await agent?.stop();
    await parley?.stop();
    await database?.drop();
  });

  inBrowser('shows the same when it is back, and what came meanwhile once', async () => {
    const api = new Api(parley.url);
    const name = unique('kept');
    await api.save(linear(name, external('ext', agent.url)));
    const chat = await browser.open(`${parley.url}/agents/one?agent=workflows/${name}&tab=playground`);
    await chat.getByLabel('Message', { exact: true }).fill('Hello');
    await chat.keyboard.press('Enter');
    const runs = await browser.open(`${parley.url}/runs`);
    await runs.locator('[data-connection="live"]').waitFor({ state: 'attached' });
    const id = await new Talks(api).start({ target: agent.url, message: 'Hello', timeoutMs: 600_000 });
    const thread = await browser.open(`${parley.url}/conversations/${id}`);
    const log = await browser.open(`${parley.url}/tasks/${id}?tab=events`);
    await agent.sent(2);
    await thread.locator('[data-typing="target"]').waitFor();
    await chat.locator('[data-status="TASK_STATE_WORKING"]').waitFor();
    await log.locator('[data-sequence="2"]').waitFor();

    await parley.kill9();
    for (const page of [thread, runs]) await page.getByText('Connection lost').waitFor();
    expect(await thread.locator('[data-turn]').count()).toBe(1);
    parley = await start();
    for (const page of [thread, runs]) await page.getByText('Connection lost').waitFor({ state: 'detached' });
    agent.release();

    await thread.locator('header [data-status="complete"]').waitFor();
    const { turns } = await new Talks(new Api(parley.url)).get(id);
    const texts = async (): Promise<string[]> => thread.locator('[data-turn] .markdown').allInnerTexts();
    await until(async () => (await texts()).length === turns.length, { what: `${turns.length} turns` });
    expect(await texts()).toEqual(turns.map(({ text }) => text));
    expect(turns.map(({ text }) => text)).toEqual(['Hello', 'the answer']);

    await log.locator('[data-sequence]').getByText('Completed').waitFor();
    const numbers = await log
      .locator('[data-sequence]')
      .evaluateAll((all) => all.map((it) => Number(it.getAttribute('data-sequence'))));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));

    await chat.locator('[data-status="TASK_STATE_COMPLETED"]').waitFor();
    expect(await chat.locator('[data-from="person"]').count()).toBe(1);
    await chat.locator('[data-from="agent"]').filter({ hasText: 'the answer' }).first().waitFor();
  });
});
