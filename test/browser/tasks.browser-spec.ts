import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { Talks } from '../support/conversation.js';
import { answers } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { external, input, linear, output, says, script, unique } from '../support/workflow.js';

describe('the view of Tasks', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  const at = (path: string) => `${stage.parley.url}/tasks${path}`;
  const badge = (page: Page, status: string) => page.locator(`header [data-status="${status}"]`);
  const links = (page: Page) => page.getByRole('table', { name: 'Tasks' }).getByRole('link');

  const send = async (workflow: string, node: string, text: string, configuration = {}, ofMessage = {}) => {
    const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text }], ...ofMessage };
    const response = await fetch(stage.api.base(workflow, node), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message, configuration: { returnImmediately: true, ...configuration } },
      }),
    });
    return ((await response.json()) as { result: { task: { id: string; contextId: string } } }).result.task;
  };

  inBrowser('finds Tasks by state, agent and context, and says so in its address', async () => {
    const name = unique('search');
    await stage.api.save(linear(name, script('asks', { ask: 'which one?' }), script('says', ...says('done'))));
    const asking = await send(name, 'asks', 'hello');
    const done = await send(name, 'says', 'hello');
    const page = await browser.open(at(''));
    await links(page).filter({ hasText: asking.id }).waitFor();
    await page.getByLabel('State').selectOption('TASK_STATE_INPUT_REQUIRED');
    await links(page).filter({ hasText: done.id }).waitFor({ state: 'detached' });
    await links(page).filter({ hasText: asking.id }).waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('Agent', { exact: true }).fill(`workflows/${name}/nodes/says`);
    await page.getByRole('button', { name: 'Search' }).click();
    // While it is looked for, there is neither.
    await links(page).filter({ hasText: asking.id }).waitFor({ state: 'detached' });
    await links(page).filter({ hasText: done.id }).waitFor();
    expect(await links(page).allInnerTexts()).toEqual([done.id]);
    await page.goto(at(`?context=${asking.contextId}`));
    await links(page).filter({ hasText: asking.id }).waitFor();
    expect(await links(page).count()).toBe(1);
    await page.getByLabel('Context id').fill('no-such-context');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No Task matches' }).waitFor();
    await page.goto(at('?agent=nobody'));
    await page.getByRole('alert').getByText('workflow "nobody" not found').waitFor();
  });

  inBrowser('leaves out what other Tasks called for, on whatever page the others are', async () => {
    const inner = await stage.api.save(linear(unique('inner'), input('in'), output('out')));
    const name = unique('outer');
    const child = external('child', stage.api.base(inner.name));
    const { runId, contextId } = await stage.api.finish(linear(name, input('in'), child, output('out')), { in: 'x' });
    // More than a page of Tasks that changed after the run.
    await Promise.all(Array.from({ length: 60 }, () => send(name, 'in', 'hello', {}, { contextId })));
    const page = await browser.open(at(`?context=${contextId}`));
    await links(page).first().waitFor();
    expect(await links(page).filter({ hasText: runId }).count()).toBe(0);
    await page.getByLabel('Only top level').check();
    await links(page).filter({ hasText: runId }).waitFor();
    await page.getByText('The list is complete.').waitFor({ state: 'attached' });
    expect(await links(page).allInnerTexts()).toEqual([runId]);
    expect(new URL(page.url()).searchParams.get('top')).toBe('true');
    await page.goto(at(`?agent=${inner.name}`));
    await links(page).first().waitFor();
    await page.getByLabel('Only top level').check();
    await page.getByRole('heading', { name: 'No Task matches', exact: true }).waitFor();
  });

  inBrowser('looks through five hundred for them, and through more when it is told to', async () => {
    const name = unique('many');
    const { runId, contextId } = await stage.api.finish(linear(name, input('in'), output('out')), { in: 'x' });
    for (let sent = 0; sent < 510; sent += 30)
      await Promise.all(Array.from({ length: 30 }, () => send(name, 'in', 'hello', {}, { contextId })));
    const page = await browser.open(at(`?context=${contextId}&top=true`));
    await page.getByRole('heading', { name: 'No matching Task so far' }).waitFor();
    await page.getByText('The 500 most recently updated Tasks were searched.').waitFor();
    await page.getByRole('button', { name: 'Search further' }).click();
    await links(page).filter({ hasText: runId }).waitFor();
    await page.getByText('The list is complete.').waitFor({ state: 'attached' });
    expect(await links(page).allInnerTexts()).toEqual([runId]);
    expect(await page.getByRole('button', { name: 'Search further' }).count()).toBe(0);
  });

  inBrowser('shows one live: its words, its log, its JSON, and cancels it', async () => {
    const name = unique('live');
    const chunk = (text: string, append: boolean) => ({
      artifact: { artifactId: 'a', name: 'answer', parts: [{ text }], append },
    });
    await stage.api.save(
      linear(name, script('slow', chunk('# Begun', false), { status: 'working', text: 'on it' }, { ask: 'go on?' })),
    );
    const task = await send(name, 'slow', 'hello');
    const page = await browser.open(at(`/${task.id}`));
    await badge(page, 'TASK_STATE_INPUT_REQUIRED').waitFor();
    await page.locator('[data-artifact="a"] h1', { hasText: 'Begun' }).waitFor();
    await page.getByRole('region', { name: 'Last message' }).getByText('go on?').waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.locator('[data-sequence="1"]').getByText('Submitted').waitFor();
    await page.getByText('Artifact answer').waitFor();
    await page.locator('[data-sequence="1"] button').click();
    await page.getByRole('region', { name: 'Event 1', exact: true }).getByText('"TASK_STATE_SUBMITTED"').waitFor();
    await page.locator('[data-sequence="4"]').waitFor();
    const before = await page.locator('[data-sequence]').count();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await badge(page, 'TASK_STATE_CANCELED').waitFor();
    await page
      .locator(`[data-sequence="${before + 1}"]`)
      .getByText('Canceled')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
    await page.goto(at(`/${task.id}?tab=json`));
    await page.getByRole('region', { name: 'The Task as JSON' }).getByText(task.contextId).waitFor();
  });

  inBrowser('draws of long lists what is in view, and fetches the next page at the end of one', async () => {
    const name = unique('long');
    const chunks = Array.from({ length: 400 }, (_, index) => ({
      artifact: { artifactId: 'a', parts: [{ text: `${index} ` }], append: index > 0 },
    }));
    await stage.api.save(linear(name, script('chunks', ...chunks, { complete: 'done' }), script('says', ...says('x'))));
    const task = await send(name, 'chunks', 'hello');
    const page = await browser.open(at(`/${task.id}?tab=events`));
    await page.locator('[data-sequence]').getByText('Completed').waitFor();
    await page.getByText(/^40\d events/).waitFor();
    expect(await page.locator('[data-sequence]').count()).toBeLessThan(60);
    await page.getByRole('region', { name: 'Events', exact: true }).evaluate((it) => it.scrollTo({ top: 0 }));
    await page.locator('[data-sequence="1"]').waitFor();

    const sent = await Promise.all(Array.from({ length: 60 }, () => send(name, 'says', 'hello')));
    await page.goto(at(`?agent=workflows/${name}/nodes/says`));
    const table = page.getByRole('table', { name: 'Tasks' });
    const rows = async () => Number(await table.getAttribute('aria-rowcount')) - 1;
    await table.waitFor();
    expect(await rows()).toBe(50);
    await page.getByRole('region', { name: 'Tasks' }).evaluate((it) => it.scrollTo({ top: it.scrollHeight }));
    await until(async () => (await rows()) === sent.length, { what: 'the second page' });
    expect(await links(page).count()).toBeLessThan(45);
  });

  inBrowser('leads to the run, the conversation or the brainstorm that a Task is', async () => {
    const name = unique('run');
    const { runId } = await stage.api.finish(linear(name, input('in'), output('out')), { in: 'x' });
    const page = await browser.open(at(`/${runId}`));
    const link = page.getByRole('link', { name: `Open the run of ${name}` });
    expect(await link.getAttribute('href')).toBe(`/runs/${runId}`);
    const bob = (await stage.fake()).always(answers('hi'));
    const id = await new Talks(stage.api).start({ target: bob.url, message: 'Hello' });
    await page.goto(at(`/${id}`));
    await page.getByRole('link', { name: 'Open the conversation' }).click();
    await page.locator('[data-turn="1"]').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/conversations/${id}`);
  });

  inBrowser('shows what became of its push notifications, and sends one again', async () => {
    const receiver = await WebhookReceiver.start();
    stage.defer(() => receiver.stop());
    const name = unique('push');
    await stage.api.save(linear(name, script('says', ...says('done'))));
    const task = await send(name, 'says', 'hello', { taskPushNotificationConfig: { url: `${receiver.url}/hook` } });
    const page = await browser.open(at(`/${task.id}?tab=push`));
    await until(() => receiver.received.some(({ event }) => JSON.stringify(event).includes('COMPLETED')));
    const { length } = receiver.received;
    await until(async () => {
      await page.reload();
      await page.getByRole('tab', { name: 'Push notifications' }).waitFor();
      return (await page.locator('[data-status="delivered"]').count()) === length;
    });
    await page
      .getByRole('button', { name: /^Send event \d+ again$/ })
      .first()
      .click();
    await until(() => receiver.received.length === length + 1);
  });

  inBrowser('has nothing serious for an accessibility checker, light and dark', async () => {
    const name = unique('axe');
    await stage.api.save(linear(name, script('asks', { artifact: { parts: [{ data: { a: 1 } }] } }, { ask: 'so?' })));
    const task = await send(name, 'asks', 'hello');
    const page = await browser.open(at(''));
    for (const [path, ready] of [
      ['', 'table'],
      [`/${task.id}`, '[data-artifact]'],
      [`/${task.id}?tab=events`, '[data-sequence="1"]'],
      [`/${task.id}?tab=push`, 'h2'],
    ] as const) {
      await page.goto(at(path));
      await page.locator(ready).first().waitFor();
      expect([path, await seriousFaultsInEitherTheme(page)]).toEqual([path, []]);
    }
  });
});
