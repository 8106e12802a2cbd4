import type { Page } from 'playwright-core';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { listen } from '../support/foreign-page.mjs';
import { useStage } from '../support/stage.js';
import { WebSite } from '../support/web-site.js';
import { linear, input, output, unique } from '../support/workflow.js';

const KEY = 'a-key-of-thirty-two-characters-00';
const admin = { authorization: `Bearer ${KEY}` };
const env: Record<string, string> = { AUTH_MODE: 'api-key', AUTH_API_KEYS: `anna:${KEY}` };
let site: WebSite;

beforeAll(async () => {
  site = await WebSite.start();
  // The worst case: a page of the same site, which CORS_ORIGINS lists.
  env['CORS_ORIGINS'] = site.at('127.0.0.1');
});
afterAll(() => site.stop());

const stage = useStage({ env });
const browser = useBrowser();

interface MadeKey {
  id: string;
  key: string;
}

async function makeKey(scopes = ['agents', 'workflows']): Promise<MadeKey> {
  const made = await stage.api.call<MadeKey & Record<string, never>>(
    'POST',
    '/keys',
    { name: unique('ann'), scopes },
    admin,
  );
  return made.body;
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Another tab of the same browser. */
async function openTab(first: Page, path: string): Promise<Page> {
  const page = await first.context().newPage();
  await page.goto(`${stage.parley.url}${path}`);
  return page;
}

const isLive = (page: Page): Promise<void> => page.locator('[data-connection="live"]').waitFor({ state: 'attached' });

/** Tries all that a page of another origin may try with the cookies of the browser. @returns what it could read */
function useCookies(base: string): Promise<string[]> {
  const json = { 'content-type': 'application/json' };
  const marked = { 'x-requested-with': 'parley-console' };
  const workflow = JSON.stringify({ name: 'stolen', nodes: [{ id: 'in', type: 'input' }], edges: [] });
  const write = { method: 'POST', body: workflow, credentials: 'include' } as const;
  const attempts: [path: string, init: RequestInit][] = [
    ['/api/runs', { credentials: 'include' }],
    ['/api/runs', { credentials: 'include', headers: marked }],
    ['/api/session', { credentials: 'include', mode: 'no-cors' }],
    ['/api/workflows', write],
    ['/api/workflows', { ...write, mode: 'no-cors' }],
    ['/api/workflows', { ...write, headers: json }],
    ['/api/workflows', { ...write, headers: { ...json, ...marked } }],
    ['/api/tickets', { method: 'POST', credentials: 'include' }],
    ['/api/tickets', { method: 'POST', credentials: 'include', headers: marked }],
  ];
  return Promise.all(
    attempts.map(async ([path, init]) => {
      const response = await fetch(`${base}${path}`, init).catch(() => undefined);
      return (await response?.text()) ?? '';
    }),
  );
}

describe('a sign-in at the console', () => {
  inBrowser('lasts in every tab of the browser, and ends in all of them by signing out', async () => {
    const { key } = await makeKey();
    const first = await browser.open(`${stage.parley.url}/runs`);
    await signIn(first, key);
    await first.getByText('No run yet').waitFor();
    const second = await openTab(first, '/runs');
    await second.getByText('No run yet').waitFor();
    await Promise.all([first, second].map(isLive));
    expect(await second.getByRole('dialog').count()).toBe(0);
    expect(await second.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0]);
    const [cookie] = await second.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    await second.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [second, first]) await page.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    await first.reload();
    await first.getByRole('dialog', { name: 'This service requires an API key' }).waitFor();
  });

  inBrowser('ends in every tab with its key, with a sentence, and what was entered stays', async () => {
    const { id, key } = await makeKey();
    const editor = await browser.open(`${stage.parley.url}/workflows`);
    await signIn(editor, key);
    await editor.getByRole('link', { name: 'New workflow' }).first().click();
    const name = unique('draft');
    await editor.getByLabel('Name', { exact: true }).fill(name);
    const runs = await openTab(editor, '/runs');
    await isLive(runs);
    expect((await stage.api.call('DELETE', `/keys/${id}`, undefined, admin)).status).toBe(204);
    for (const page of [runs, editor]) await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    expect(await runs.getByRole('alert').count()).toBe(0);
    expect(await seriousFaults(runs)).toEqual([]);
    await editor.keyboard.press('Escape');
    expect(await editor.getByRole('button', { name: 'Not now' }).count()).toBe(0);
    // The same caller with another key.
    const { body } = await stage.api.call<{ keys: { id: string; name: string }[] }>('GET', '/keys', undefined, admin);
    const caller = body.keys.find((it) => it.id === id)!.name;
    const again = await stage.api.call<MadeKey & Record<string, never>>('POST', '/keys', { name: caller }, admin);
    await signIn(editor, again.body.key);
    expect(await editor.getByLabel('Name', { exact: true }).inputValue()).toBe(name);
    await isLive(runs);
    await runs.getByRole('dialog').waitFor({ state: 'detached' });
  });

  inBrowser('is of no use to a page of another origin, which neither reads nor writes', async () => {
    const { key } = await makeKey();
    const mine = await browser.open(`${stage.parley.url}/runs`);
    await signIn(mine, key);
    await mine.getByText('No run yet').waitFor();
    const foreign = await mine.context().newPage();
    for (const name of ['127.0.0.1', 'localhost']) {
      await foreign.goto(site.at(name));
      const read = await foreign.evaluate(useCookies, stage.parley.url);
      expect(read.filter((text) => text !== '' && !text.includes('"status":401'))).toEqual([]);
      expect(await foreign.evaluate(listen, { base: stage.parley.url, protocols: [] })).toEqual(['refused', 'refused']);
    }
    const { status } = await stage.api.call('GET', '/workflows/stolen', undefined, admin);
    expect(status).toBe(404);
    // The cookie was there, and counts for the console.
    expect((await mine.context().cookies(stage.parley.url)).map((it) => it.name)).toEqual(['parley-session']);
    await mine.reload();
    await mine.getByText('No run yet').waitFor();
  });

  inBrowser('may be for one tab alone', async () => {
    const { key } = await makeKey();
    const first = await browser.open(`${stage.parley.url}/runs`);
    await first.getByLabel('Only in this tab').check();
    await signIn(first, key);
    await isLive(first);
    expect(await first.evaluate(() => sessionStorage.getItem('parley.api-key'))).toBe(key);
    expect(await first.context().cookies()).toEqual([]);
    const second = await openTab(first, '/runs');
    await second.getByRole('dialog', { name: 'This service requires an API key' }).waitFor();
    await first.getByRole('button', { name: 'Sign out' }).click();
    await first.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    expect(await first.evaluate(() => sessionStorage.length)).toBe(0);
  });

  inBrowser('of another caller shows nothing of the last one', async () => {
    const workflow = linear(unique('private'), input('in'), output('out'));
    await stage.api.call('POST', '/workflows', workflow, admin);
    const [one, two] = [await makeKey(), await makeKey(['agents'])];
    const page = await browser.open(`${stage.parley.url}/runs`);
    await signIn(page, one.key);
    await stage.api.start(workflow.name, { in: 'x' }, { authorization: `Bearer ${one.key}` });
    await page.getByRole('link', { name: workflow.name }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    await signIn(page, two.key);
    await page.getByText('No run yet').waitFor();
    expect(await page.getByRole('link', { name: workflow.name }).count()).toBe(0);
  });
});
