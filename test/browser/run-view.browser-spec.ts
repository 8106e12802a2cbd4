import type { Locator, Page } from 'playwright-core';
import { FORM_EXTENSION, type JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { consoleCount, nodeOf, nodeReaches } from '../support/console-page.js';
import { answers, type FakeStep, holds } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, external, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

/** A message of the console to the event gateway. */
interface GatewayMessage {
  event: 'subscribe' | 'unsubscribe';
  data: { id: string; since?: string };
}

describe('the view of a run', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const run = async (workflow: Workflow, inputs = {}): Promise<string> => {
    await stage.api.save(workflow);
    return stage.api.start(workflow.name, inputs);
  };
  const watch = (runId: string, path = ''): Promise<Page> => browser.open(`${stage.parley.url}/runs/${runId}${path}`);
  const cause = (page: Page) => page.locator('[data-cause]');

  inBrowser('tells why a run failed and what was never started, and when each node ran', async () => {
    const broken = script('broken', { fail: 'No paper left' });
    const page = await watch(await run(linear(unique('fails'), input('in'), broken, output('out')), { in: 'x' }));
    await nodeReaches(page, 'broken', 'failed');
    await nodeReaches(page, 'out', 'skipped');
    await cause(page).getByText('No paper left').waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.locator('[data-row="broken"] [data-bar="failed"]').waitFor();
    await page.locator('[data-row="out"]').click();
    await cause(page).getByText('Never started: broken failed.').waitFor();
    await page.reload();
    await page.locator('[data-row="out"][aria-pressed="true"]').waitFor();
  });

  inBrowser('shows a timer while a node works, cancels, and tells what became of its Task', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const page = await watch(await run(linear(unique('cancels'), external('ext', fake.url), output('out'))));
    await nodeReaches(page, 'ext', 'running');
    await nodeOf(page, 'ext')
      .getByText(/Running · \d/)
      .waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await nodeReaches(page, 'ext', 'canceled');
    await cause(page).getByText('This run was canceled.').waitFor();
    await page.getByRole('heading', { name: 'Outcome of its Tasks' }).waitFor();
    await page.getByRole('button', { name: 'ext', exact: true }).click();
    await cause(page)
      .getByText(/Canceled/)
      .waitFor();
    fake.release();
  });

  inBrowser('can be answered on a low screen', async () => {
    const form = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const runId = await run(linear(unique('low'), { id: 'ask', type: 'human', config: { prompt: 'How many?', form } }));
    await stage.api.reached(runId, ['input-required']);
    const page = await browser.open(`${stage.parley.url}/runs/${runId}/nodes/ask`, { width: 360, height: 380 });
    const field = page.getByLabel('n', { exact: true });
    await field.click();
    await field.fill('3');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await stage.api.ended(runId);
  });

  inBrowser('links the Task of a node, and no dead link stands for that of an agent elsewhere', async () => {
    const fake = await stage.fake();
    fake.always(answers('far'));
    const runId = await run(linear(unique('far'), echo('near'), external('ext', fake.url)));
    const { nodes } = await stage.api.ended(runId);
    const page = await browser.open('about:blank');
    const agent = page.getByRole('region', { name: 'Agent' });
    const looked = page.waitForResponse((it) => it.request().postData()?.includes('"GetTask"') === true);
    await page.goto(`${stage.parley.url}/runs/${runId}/nodes/ext`);
    await agent.getByText(`Task ${fake.taskIds()[0]}`).waitFor();
    await (await looked).finished();
    // What came of the look is drawn by then.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await agent.getByRole('link').count()).toBe(0);
    await page.goto(`${stage.parley.url}/runs/${runId}/nodes/near`);
    await agent.locator(`a[href$="/tasks/${nodes['near']?.taskId}"]`).click();
    await page
      .getByText(nodes['near']?.taskId ?? '')
      .first()
      .waitFor();
    expect(await page.getByText('Task not found').count()).toBe(0);
  });

  inBrowser('shows steps of an agent elsewhere of which nobody told the beginning, or the whole', async () => {
    const fake = await stage.fake({ streaming: true });
    const told = (type: string, payload: object): FakeStep => ({
      status: 'TASK_STATE_WORKING',
      metadata: { 'parley/event': { type, payload: payload as JsonObject } },
    });
    fake.always({
      steps: [
        told('tool.result', { tool: 'search', id: 'c1', result: 'found it' }),
        told('model.request', {}),
        told('model.response', { usage: 'much', toolCalls: [null, 1, { tool: 'erase' }] }),
        { artifact: { parts: [{ text: 'done' }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const runId = await run(linear(unique('odd'), external('ext', fake.url)));
    await stage.api.ended(runId);
    const page = await watch(runId, '/nodes/ext');
    const steps = page.locator('[data-step]');
    await steps.nth(0).getByText('found it').waitFor();
    expect(await steps.evaluateAll((all) => all.map((it) => it.dataset['step']))).toEqual(['tool', 'model', 'tool']);
    expect(await page.getByRole('button', { name: 'Arguments' }).count()).toBe(0);
  });

  inBrowser('shows a node whose agent elsewhere asks with a form that has no end', async () => {
    const fake = await stage.fake();
    const form = { type: 'object', properties: { again: { $ref: '#' } }, required: ['again'] };
    const ofMessage = { [FORM_EXTENSION]: { form } };
    fake.always({ steps: [{ status: 'TASK_STATE_INPUT_REQUIRED', text: 'Which one?', ofMessage }] });
    const page = await watch(await run(linear(unique('form'), external('ext', fake.url))), '/nodes/ext');
    await nodeReaches(page, 'ext', 'input-required');
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.getByRole('alert').waitFor();
    await details.getByRole('heading', { name: 'ext', exact: true }).waitFor();
  });

  inBrowser('follows the child run where a node is a workflow', async () => {
    const inner = await stage.api.save(linear(unique('inner'), input('in'), output('out')));
    const outer = linear(unique('outer'), input('in'), external('child', stage.api.base(inner.name)));
    const page = await watch(await run(outer, { in: 'deep' }), '/nodes/child');
    await nodeReaches(page, 'child', 'completed');
    await page.getByRole('region', { name: 'Agent' }).locator('a[href*="/tasks/"]').waitFor();
    await page.getByRole('link', { name: `Follow its run of ${inner.name}` }).click();
    await page.getByRole('heading', { name: `Run of ${inner.name}` }).waitFor();
    await nodeReaches(page, 'out', 'completed');
  });

  inBrowser('comes back after a cut with nothing lost and nothing twice', async () => {
    const runId = await run(linear(unique('cut'), input('in'), echo('a'), output('out')), { in: 'x' });
    await stage.api.ended(runId);
    const whole = (await (await stage.api.events(runId)).all()).length;
    const page = await browser.open('about:blank');
    const asked: string[] = [];
    await page.route('**/events?since=*', async (route) => {
      asked.push(new URL(route.request().url()).searchParams.get('since') ?? '');
      if (asked.length > 1) return route.continue();
      const body = await (await route.fetch()).text();
      await route.fulfill({
        contentType: 'text/event-stream',
        body: `${body.split('\n\n').slice(0, 4).join('\n\n')}\n\n`,
      });
    });
    await page.goto(`${stage.parley.url}/runs/${runId}`);
    expect(await consoleCount(page, whole)).toBe(whole);
    expect(asked[0]).toBe('0');
    expect(Number(asked[1])).toBeGreaterThan(0);
  });

  inBrowser('lists runs by workflow and status, live', async () => {
    const workflow = await stage.api.save(linear(unique('listed'), input('in'), output('out')));
    const page = await browser.open(`${stage.parley.url}/runs?workflow=${workflow.name}`);
    await page.getByText('No run matches').waitFor();
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    await page
      .getByRole('row')
      .filter({ has: page.locator('[data-status="completed"]') })
      .waitFor();
    const statuses = page.getByRole('group', { name: 'Status' });
    await statuses.getByRole('button', { name: 'Failed' }).click();
    await page.getByText('No run matches').waitFor();
    await statuses.getByRole('button', { name: 'Completed' }).click();
    await page.getByRole('link', { name: workflow.name }).click();
    await page.waitForURL(`**/runs/${runId}`);
  });

  inBrowser('comes back to the event gateway with its cursor, and misses nothing', async () => {
    const workflow = await stage.api.save(linear(unique('cut'), input('in'), output('out')));
    const page = await browser.open('about:blank');
    await withoutInboxCount(page);
    const asked: (string | undefined)[] = [];
    const { promise: connected, resolve: connect } = Promise.withResolvers<() => Promise<unknown>>();
    await page.routeWebSocket('**/events?*', (socket) => {
      const server = socket.connectToServer();
      let isFirst = false;
      socket.onMessage((text) => {
        const { event, data } = JSON.parse(String(text)) as { event: string; data: { since?: string } };
        if (event === 'subscribe') asked.push(data.since);
        isFirst = asked.length === 1;
        server.send(text);
      });
      server.onMessage((text) => {
        socket.send(text);
        if (!isFirst || !String(text).includes('"subscribed"')) return;
        // What happens from now on must show when the list is back.
        server.onMessage(() => undefined);
        connect(() => Promise.all([socket.close(), server.close()]));
      });
    });
    await page.goto(`${stage.parley.url}/runs?workflow=${workflow.name}`);
    const cut = await connected;
    await page.getByText('No run matches').waitFor();
    await stage.api.ended(await stage.api.start(workflow.name, { in: 'x' }));
    await cut();
    await page
      .getByRole('row')
      .filter({ has: page.locator('[data-status="completed"]') })
      .waitFor();
    expect(asked[0]).toBeUndefined();
    expect(asked[1]).toEqual(expect.any(String));
  });

  inBrowser('adds and drops three subscriptions on one socket, and keeps the open ones across a cut', async () => {
    const page = await browser.open('about:blank');
    await withoutInboxCount(page);
    const sockets: { messages: GatewayMessage[]; cut: () => Promise<unknown> }[] = [];
    await page.routeWebSocket('**/events?*', (socket) => {
      const server = socket.connectToServer();
      const messages: GatewayMessage[] = [];
      sockets.push({ messages, cut: () => Promise.all([socket.close(), server.close()]) });
      socket.onMessage((text) => {
        messages.push(JSON.parse(String(text)) as GatewayMessage);
        server.send(text);
      });
    });
    const idsOf = (socket: number, event: string): string[] =>
      (sockets[socket]?.messages ?? []).filter((it) => it.event === event).map(({ data }) => data.id);
    const showPage = async (title: string): Promise<void> => {
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: title }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await page.locator('[data-connection="live"]').first().waitFor({ state: 'attached' });
    };
    await page.goto(`${stage.parley.url}/runs`);
    // While a view is loaded for the first time nothing is subscribed, and the socket closes after a while.
    for (const title of ['Tasks', 'Inbox', 'Runs']) await showPage(title);
    const at = sockets.length - 1;
    const [known, left] = [new Set(idsOf(at, 'subscribe')).size, idsOf(at, 'unsubscribe').length];
    for (const [index, title] of ['Tasks', 'Inbox'].entries()) {
      await showPage(title);
      const isNext = (): boolean => new Set(idsOf(at, 'subscribe')).size > known + index;
      await until(isNext, { what: `a subscription of ${title}` });
    }
    await until(() => idsOf(at, 'unsubscribe').length >= left + 2, { what: 'the end of two subscriptions' });
    expect(sockets).toHaveLength(at + 1);
    const dropped = idsOf(at, 'unsubscribe');
    const open = idsOf(at, 'subscribe').filter((id) => !dropped.includes(id));

    await sockets[at]!.cut();
    const next = at + 1;
    await until(() => idsOf(next, 'subscribe').length >= open.length, { what: 'the open subscriptions' });
    expect(idsOf(next, 'subscribe')).toEqual(open);
    for (const { data } of sockets[next]!.messages) expect(data.since).toEqual(expect.any(String));
    await showPage('Runs');
    await until(() => open.some((id) => idsOf(next, 'unsubscribe').includes(id)), { what: 'the end of the third one' });
    expect(sockets).toHaveLength(next + 1);
  });

  inBrowser('has on a phone every node, lines of its console, and in the list the reason of a failure', async () => {
    const nodes = [input('in'), echo('a'), echo('b'), script('broken', { fail: 'No paper left' }), output('out')];
    const workflow = linear(unique('phone'), ...nodes);
    const runId = await run(workflow, { in: 'x' });
    await stage.api.ended(runId);
    const page = await browser.open(`${stage.parley.url}/runs/${runId}`, { width: 390, height: 844 });
    await nodeReaches(page, 'out', 'skipped');
    const canvas = page.locator('.react-flow__pane');
    const cards = nodes.map(({ id }) => nodeOf(page, id));
    await until(() => areWithin(cards, canvas), { what: 'every node to be within the canvas' });
    await page.getByRole('tab', { name: 'Log' }).click();
    const log = page.getByRole('log', { name: 'Lines of the console' });
    const inSight = async (): Promise<boolean> => {
      const lines = await page.locator('[data-line]').all();
      const seen = await Promise.all(lines.map((line) => isSeen(line, log)));
      return seen.filter((it) => it).length >= 3;
    };
    await until(inSight, { what: 'three whole lines of the console' });
    await page.goto(`${stage.parley.url}/runs?q=${workflow.name}`);
    const reason = page.getByRole('row').getByText('No paper left').filter({ visible: true });
    await reason.waitFor();
    const { x = 0, width = Infinity } = (await reason.boundingBox()) ?? {};
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(390);
  });

  inBrowser('says in plain words that there is no such run', async () => {
    const page = await watch('01a201d8-30b8-74f9-80be-000000000000');
    await page.getByRole('alert').getByText('run not found').waitFor();
  });

  inBrowser('has nothing serious for an accessibility checker, light and dark, wide and narrow', async () => {
    const asks = script('asks', { ask: 'Which tone?' });
    const runId = await run(linear(unique('axe'), input('in'), asks, output('out')), { in: 'x' });
    for (const [theme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const) {
      const page = await browser.open(`${stage.parley.url}/runs/${runId}`, { theme, width });
      await nodeReaches(page, 'asks', 'input-required');
      expect(await seriousFaults(page)).toEqual([]);
      if (width !== 1280) continue;
      await page.goto(`${stage.parley.url}/runs/${runId}/nodes/in?view=timeline`);
      await page.locator('[data-row="in"]').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.goto(`${stage.parley.url}/runs`);
      await page.getByRole('table', { name: 'Runs' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    }
  });
});

/** Whether each of these is in sight within another. */
async function areWithin(inner: readonly Locator[], outer: Locator): Promise<boolean> {
  const seen = await Promise.all(inner.map((it) => isSeen(it, outer)));
  return seen.every((it) => it);
}

/** Whether a box lies wholly within another, as far as that one is in the window. */
async function isSeen(inner: Locator, outer: Locator): Promise<boolean> {
  const [box, frame] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  const { width, height } = outer.page().viewportSize() ?? { width: 0, height: 0 };
  if (!box || !frame) return false;
  return (
    box.x >= Math.max(0, frame.x) &&
    box.y >= Math.max(0, frame.y) &&
    box.x + box.width <= Math.min(width, frame.x + frame.width) &&
    box.y + box.height <= Math.min(height, frame.y + frame.height)
  );
}

/** Leaves out the menu's count of questions, which subscribes to events itself. */
async function withoutInboxCount(page: Page): Promise<void> {
  await page.route('**/api/inbox?pageSize=*', (route) => route.fulfill({ status: 403, json: {} }));
}
