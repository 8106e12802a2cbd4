import type { Page } from 'playwright-core';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { freePort } from '../support/free-port.mjs';
import { oidcEnv } from '../support/oidc-browser.js';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.mjs';
import { useStage } from '../support/stage.js';
import { unique } from '../support/workflow.js';

const env: Record<string, string> = { ...apiKeyEnv(testCaller('ann')) };
let provider: OidcProvider;

beforeAll(async () => {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  provider = await startOidcProvider(publicUrl);
  Object.assign(env, oidcEnv(publicUrl, provider));
});

const stage = useStage({ env });
const browser = useBrowser();

beforeEach(() => void Object.assign(provider.state, { person: 'ann', refuses: false }));
afterAll(() => provider.stop());

const signInLink = (page: Page) => page.getByRole('link', { name: 'Sign in with your account' });

async function openTab(first: Page, path: string): Promise<Page> {
  const page = await first.context().newPage();
  await page.goto(`${stage.parley.url}${path}`);
  return page;
}

describe('a sign-in with an account', () => {
  inBrowser('leads back to the page asked for, lasts in every tab, and ends in all and at the provider', async () => {
    const page = await browser.open(`${stage.parley.url}/runs?status=failed`);
    await page.getByRole('dialog', { name: 'This service requires a sign-in' }).waitFor();
    await signInLink(page).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await signInLink(page).click();
    await page.getByRole('button', { name: 'Sign out ann' }).waitFor();
    expect(page.url()).toBe(`${stage.parley.url}/runs?status=failed`);
    const second = await openTab(page, '/settings/keys');
    await second.getByRole('table', { name: 'Keys' }).waitFor();
    expect(await second.getByRole('dialog').count()).toBe(0);
    await second.getByRole('button', { name: 'Sign out ann' }).click();
    await page.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    await second.waitForURL(`${provider.issuer}/session/end?**`);
    await second.getByRole('button', { name: /yes/i }).click();
    await second.waitForURL(`${stage.parley.url}/**`);
    await second.getByRole('dialog', { name: 'This service requires a sign-in' }).waitFor();
  });

  inBrowser('is made in another tab after the end of a session, and a draft stays', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows`);
    await signInLink(page).click();
    await page.getByRole('link', { name: 'New workflow' }).first().click();
    const name = unique('draft');
    await page.getByLabel('Name', { exact: true }).fill(name);
    const other = await openTab(page, '/runs');
    await other.locator('[data-connection="live"]').waitFor({ state: 'attached' });
    await stage.database.query('UPDATE console_session SET ends_at = now()');
    for (const tab of [other, page]) await tab.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    const opened = page.context().waitForEvent('page');
    await signInLink(page).click();
    await (await opened).getByRole('heading', { name: 'You are signed in' }).waitFor();
    for (const tab of [page, other]) await tab.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(name);
  });

  inBrowser('that fails says why, and can be begun again', async () => {
    provider.state.person = 'mallory';
    const page = await browser.open(`${stage.parley.url}/runs`);
    await signInLink(page).click();
    await page.getByText('Your account has no role that may use this service').waitFor();
    expect(await page.getByRole('link', { name: 'Sign in again' }).getAttribute('href')).toBe(
      `${stage.parley.url}/auth/sign-in?return=%2Fruns`,
    );
    expect(await seriousFaults(page)).toEqual([]);
  });
});
