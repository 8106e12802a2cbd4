import type { Locator, Page } from 'playwright-core';
import type { JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { Talks } from '../support/conversation.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';

const HOSTILE = [
  '**bold** and `code`',
  '<img src=x onerror="globalThis.hacked = 1"><script>globalThis.hacked = 1</script>',
  '[press me](javascript:globalThis.hacked=1) [data](data:text/html,x) ![pixel](https://tracker.example/p.png)',
].join('\n\n');

/** How much of a page moves for as long as it is there; its reader prefers that nothing does. */
function movingForever(page: Page): Promise<number> {
  return page.evaluate(`document
    .getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().iterations === Infinity).length`);
}

describe('the view of conversations', () => {
  const stage = useStage();
  const browser = useBrowser();
  const talks = () => new Talks(stage.api);
  /** Starts a conversation whose turns may take long: on a busy machine they wait for the page. */
  const start = (body: JsonObject): Promise<string> => talks().start({ timeoutMs: 600_000, ...body });
  const at = (path: string) => `${stage.parley.url}/conversations${path}`;
  const bubbles = (page: Page) => page.locator('[data-turn]');
  const badge = (page: Page, status: string) => page.locator(`header [data-status="${status}"]`);

  /** Presses a button and waits until the service has taken the command. */
  const press = async (page: Page, name: string): Promise<void> => {
    const taken = page.waitForResponse((it) => it.url().endsWith(`/${name.toLowerCase()}`));
    await page.getByRole('button', { name }).click();
    expect((await taken).status()).toBe(202);
  };

  inBrowser('says what to do where there is none, and starts one from its form', async () => {
    const [ann, bob] = [await stage.fake(), await stage.fake()];
    ann.always(answers('from Ann'));
    bob.always(answers('from Bob'));
    const page = await browser.open(at(''));
    await page.getByRole('heading', { name: 'No conversation yet' }).waitFor();
    await page.getByRole('link', { name: 'Start a conversation' }).first().click();
    await page.getByLabel('Requester').fill(ann.url);
    await page.getByLabel('Target').fill('nobody_knows_me');
    await page.getByLabel('Message').fill('Hello Bob');
    await page.getByLabel('Maximum turns').fill('2');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('there is no agent "nobody_knows_me"').first().waitFor();
    await page.getByLabel('Target').fill(bob.url);
    await page.getByRole('button', { name: 'Start' }).click();
    await badge(page, 'complete').getByText('turn limit').waitFor();
    expect(await bubbles(page).evaluateAll((all) => all.map((it) => it.getAttribute('data-side')))).toEqual([
      'requester',
      'target',
      'requester',
      'target',
    ]);
    expect(await bubbles(page).nth(2).innerText()).toMatch(new RegExp(`${ann.url}[^]*turn 2[^]*from Ann`));
    await page.getByText('The limit of 2 turns after the first answer was reached.').waitFor();
    await page.getByRole('link', { name: 'Conversations' }).first().click();
    await page.getByRole('link', { name: `${ann.url} → ${bob.url}` }).waitFor();
  });

  inBrowser('shows markdown, and nothing of an answer runs or loads', async () => {
    const bob = (await stage.fake()).always(answers(HOSTILE));
    const id = await start({ target: bob.url, message: 'Hello' });
    const page = await browser.open(at(`/${id}`));
    const answer = page.locator('[data-turn="1"]');
    await answer.locator('strong', { hasText: 'bold' }).waitFor();
    expect(await answer.locator('img, script, iframe').count()).toBe(0);
    expect(await answer.innerText()).toContain('<script>globalThis.hacked = 1</script>');
    await answer.getByText('press me').click();
    expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
    const targets = await answer.locator('a').evaluateAll((all) => all.map((it) => it.getAttribute('href')));
    expect(targets.filter((it) => it && !/^(#turn-1|https:\/\/tracker\.example\/p\.png)$/.test(it))).toEqual([]);
  });

  inBrowser('shows who is at work, pauses, takes a turn from the reader, goes on and stops', async () => {
    const [ann, bob] = [await stage.fake(), await stage.fake()];
    ann.always(holds('Ann was released'));
    bob.always(holds('Bob was released'));
    const id = await start({ requester: ann.url, target: bob.url, message: 'Hello', maxTurns: 20 });
    const page = await browser.open(at(`/${id}`));
    await page.locator('[data-typing="target"]').waitFor();
    expect(await movingForever(page)).toBe(0);
    await press(page, 'Pause');
    await bob.sent();
    bob.release();
    await badge(page, 'paused').waitFor();
    await page.getByText(`Paused. ${ann.url} speaks next.`).waitFor();
    const box = page.getByLabel(`Say the next turn in place of ${ann.url}`);
    await box.fill('I say this **myself**');
    await box.press('Enter');
    await page.locator('[data-turn="2"] strong', { hasText: 'myself' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('[data-typing="target"]').waitFor();
    await press(page, 'Stop');
    await bob.sent(2);
    bob.release();
    await badge(page, 'complete').getByText('done').waitFor();
    expect(ann.sends).toEqual([]);
    expect(await bubbles(page).count()).toBe(4);
  });

  inBrowser('shows the question that a person has to answer, and sends the answer', async () => {
    const ofMessage = { 'parley/question': { about: 'approval', call: 'c' } };
    const bob = await stage.fake();
    bob.next({ steps: [{ status: 'TASK_STATE_INPUT_REQUIRED', text: 'May I?', ofMessage }] }).always(answers('I have'));
    const id = await start({ target: bob.url, message: 'Hello' });
    const page = await browser.open(at(`/${id}`));
    await badge(page, 'input-required').waitFor();
    await page.getByText('asks: May I?').waitFor();
    const box = page.getByLabel('Answer the question');
    await box.fill('yes');
    await box.press('Enter');
    await page.locator('[data-turn="1"]', { hasText: 'I have' }).waitFor();
    expect(bob.texts).toEqual(['Hello', 'yes']);
  });

  inBrowser('cancels', async () => {
    const bob = (await stage.fake()).always(holds());
    const id = await start({ target: bob.url, message: 'Hello' });
    const page = await browser.open(at(`/${id}`));
    await page.locator('[data-typing="target"]').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await badge(page, 'complete').getByText('canceled').waitFor();
    expect((await talks().get(id)).outcome).toBe('canceled');
  });

  inBrowser('follows the end until the reader scrolls up, and has a link for each turn', async () => {
    const bob = await stage.fake();
    const ann = (await stage.fake()).always(answers('word '.repeat(400)));
    bob.always((_call, index) => (index === 2 ? holds('the last word') : answers('word '.repeat(400))));
    const id = await start({ requester: ann.url, target: bob.url, message: 'Hello', maxTurns: 4 });
    const page = await browser.open(at(`/${id}`), { height: 500 });
    await bob.sent(3);
    await page.locator('[data-turn="4"]').waitFor();
    const log = page.getByRole('log');
    const fromEnd = () => log.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
    const atEnd = () => until(async () => (await fromEnd()) < 50, { what: 'the end to be in view' });
    await atEnd();
    await log.evaluate((it) => it.scrollTo({ top: 0 }));
    await page.getByRole('button', { name: 'To the latest turn' }).waitFor();
    bob.release();
    await page.locator('[data-turn="5"]').waitFor();
    expect(await log.evaluate((it) => it.scrollTop)).toBe(0);
    await page.getByRole('button', { name: 'To the latest turn' }).click();
    await page.getByText('the last word').waitFor();
    await atEnd();
    await page.goto(at(`/${id}#turn-1`));
    await page.reload();
    await page.locator('#turn-1').waitFor();
    await until(() => inView(page.locator('#turn-1')), { what: 'the turn to be in view' });
  });

  inBrowser('says plainly where there is no such conversation', async () => {
    const page = await browser.open(at('/no-such-one'));
    await page.getByRole('alert').getByText('conversation not found').waitFor();
  });

  inBrowser('has nothing serious for an accessibility checker, light and dark', async () => {
    const bob = (await stage.fake()).always(answers('# Heading\n\n- a list\n\n| a | b |\n|---|---|\n| 1 | 2 |'));
    const waiting = (await stage.fake()).always(holds());
    const done = await start({ target: bob.url, message: 'Hello' });
    await talks().ended(done);
    const page = await browser.open(at(''));
    for (const [path, ready] of [
      ['', 'table'],
      ['/new', 'form'],
      [`/${done}`, '[data-turn="1"]'],
      [() => start({ target: waiting.url, message: 'Hello' }), '[data-typing]'],
    ] as const) {
      await page.goto(at(typeof path === 'string' ? path : `/${await path()}`));
      await page.locator(ready).first().waitFor();
      expect([path, await seriousFaultsInEitherTheme(page)]).toEqual([path, []]);
    }
  });
});

async function inView(locator: Locator): Promise<boolean> {
  const box = await locator.boundingBox();
  return box !== null && box.y + box.height > 0 && box.y < 500;
}
