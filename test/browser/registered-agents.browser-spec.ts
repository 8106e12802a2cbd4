import type { JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { DoorAgent } from '../support/door-agent.js';
import { useSharedStage } from '../support/shared-stage.js';
import { range } from '../support/sse.js';
import { unique } from '../support/workflow.js';

const PHONE = { width: 390, height: 844 };

describe('the registered agents of the settings', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  const at = (path: string) => `${stage.parley.url}/settings/agents${path}`;

  const startAgent = async (): Promise<DoorAgent> => {
    const agent = await DoorAgent.start();
    stage.defer(() => agent.end());
    return agent;
  };

  const register = async (name: string, { url }: DoorAgent, policy: JsonObject = {}): Promise<void> => {
    const reply = await stage.api.call('POST', '/agents', { name, url, policy });
    expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
    stage.defer(() => stage.api.call('DELETE', `/agents/${name}`));
  };

  inBrowser('are added, changed and deleted, with what is wrong named beside the field', async () => {
    const agent = await startAgent();
    const name = unique('desk');
    const page = await browser.open(`${stage.parley.url}/settings/new-agent`);
    page.on('dialog', (dialog) => void dialog.accept());
    const field = (label: string) => page.locator('form div', { has: page.getByLabel(label, { exact: true }) }).last();
    await page.getByLabel('Name', { exact: true }).fill('two words');
    await page.getByLabel('URL').fill('http://127.0.0.1:9');
    await page.getByLabel('Wait for the agent').fill('-1');
    await page.getByLabel('Operations').fill('SendMessage, Nonsense');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await field('Name').getByRole('alert').getByText('must be 1 to 64 letters').waitFor();
    await field('Wait for the agent').getByRole('alert').getByText('must be a number of seconds').waitFor();
    await field('Operations').getByRole('alert').getByText('Entry 2 must be a name').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Wait for the agent').fill('7');
    await page.getByLabel('Operations').fill('');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await field('URL').getByRole('alert').getByText('the agent cannot be registered').waitFor();
    await page.getByLabel('URL').fill(agent.url);
    await page.getByRole('button', { name: 'Add', exact: true }).click();

    await page.locator('header [data-status="ok"]').waitFor();
    await page.getByRole('region', { name: 'Agent card' }).getByText('Echoes each Message', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Policy' }).getByText('7', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Wait for the agent').fill('');
    await page.getByLabel('If the agent forgot a Task').selectOption('resend');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Policy' }).getByText('resend').waitFor();
    const { body } = await stage.api.call<{ policy: object }>('GET', `/agents/${name}`);
    expect(body.policy).toEqual({ forgotten: 'resend' });

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(at(''));
    expect((await stage.api.call('GET', `/agents/${name}`)).status).toBe(404);
  });

  inBrowser('show that a card has changed and that an agent is away, wide and on a phone', async () => {
    const agent = await startAgent();
    const name = unique('state');
    await register(name, agent, { perMinute: 9 });
    const page = await browser.open(at(`/${name}`));
    const badge = (status: string) => page.locator(`header [data-status="${status}"]`);
    await badge('ok').waitFor();
    await agent.end();
    agent.options.card = { description: 'Echoes louder' };
    await agent.begin();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await badge('changed').waitFor();
    await page.getByRole('status').getByText('has changed since it was pinned').waitFor();
    expect(await page.getByRole('link', { name: 'Review the change' }).getAttribute('href')).toMatch(
      /settings\/cards\//,
    );
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await agent.end();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await badge('unreachable').waitFor();
    await page.getByRole('alert').getByText('cannot be read').waitFor();
    await page.setViewportSize(PHONE);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    // The list is ordered by name: the row comes after more agents than are in view.
    const neighbor = await startAgent();
    for (const _ of range(1, 25)) await register(unique('above'), neighbor);
    await page.locator('main').getByRole('link', { name: 'Agents', exact: true }).click();
    await page.waitForURL(at(''));
    const row = page.getByRole('row', { name });
    await row.scrollIntoViewIfNeeded();
    await row.locator('[data-status="unreachable"]').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser('keep the anonymous caller of a policy in an edit', async () => {
    const agent = await startAgent();
    const name = unique('anonymous');
    await register(name, agent, { callers: [''] });
    const page = await browser.open(at(`/${name}/edit`));
    await page.getByLabel('Callers').fill('ann');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Policy' }).getByText('(anonymous), ann').waitFor();
  });
});
