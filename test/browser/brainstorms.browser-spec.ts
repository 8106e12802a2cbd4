import type { Page } from 'playwright-core';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { BrainstormApi, STEP, transforms } from '../support/brainstorm.js';
import { holds } from '../support/fake-behaviour.js';
import { useStage } from '../support/stage.js';

const RISK = { text: 'Tea floats away', severity: 'high' as const, resolved: false };

describe('the view of brainstorms', () => {
  const stage = useStage();
  const browser = useBrowser();
  const brainstorms = () => new BrainstormApi(stage.api);
  const at = (path: string) => `${stage.parley.url}/brainstorms${path}`;
  const badge = (page: Page, status: string) => page.locator(`header [data-status="${status}"]`);

  /** Two agents that agree in their second pass. */
  const pair = async () => {
    const builder = (await stage.fake({ name: 'builder' })).always(
      transforms(() => ({ architecture: 'A **dome**', execution_plan: [STEP], metrics: { confidence: 0.8 } })),
    );
    const critic = (await stage.fake({ name: 'critic' })).always(
      transforms(() => ({ risks: [RISK], metrics: { confidence: 0.8 } })),
    );
    return [builder, critic] as const;
  };

  inBrowser('starts one from its form and shows passes, state, provenance and confidence', async () => {
    const [builder, critic] = await pair();
    const page = await browser.open(at(''));
    await page.getByRole('heading', { name: 'No brainstorm yet' }).waitFor();
    await page.getByRole('link', { name: 'Start a brainstorm' }).first().click();
    await page.getByLabel('Idea').fill('A tea shop on the moon');
    await page.getByLabel('Agent 1', { exact: true }).fill(builder.url);
    await page.getByLabel('Agent 2', { exact: true }).fill('nobody_knows_me');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Agent 2', { exact: true }).fill(critic.url);
    await page.getByLabel('Role of agent 2').selectOption('devils_advocate');
    await page.getByRole('button', { name: 'Start' }).click();
    await badge(page, 'converged').waitFor();
    await page.getByRole('heading', { level: 1, name: 'A tea shop on the moon' }).waitFor();
    expect(await page.locator('[data-standing]').innerText()).toMatch(/^Converged in iteration 2: /);
    expect(await page.locator('[data-pass]').count()).toBe(2);
    expect(await page.locator('[data-pass="1"] [data-status="completed"]').count()).toBe(2);
    const risks = page.getByRole('region', { name: 'Risks', exact: true });
    expect(await risks.innerText()).toMatch(/high[^]*Tea floats away[^]*devil's advocate, iteration \d/);
    await page.getByRole('region', { name: 'Architecture' }).locator('strong', { hasText: 'dome' }).waitFor();
    await page.getByRole('img', { name: /^Confidence from 0\.80 after iteration 1 to 0\.80/ }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await badge(page, 'approved').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Brainstorms' }).first().click();
    await page.getByRole('row', { name: /A tea shop on the moon Approved 2/ }).waitFor();
  });

  inBrowser('shows why one failed, goes on with it live, and cancels', async () => {
    const [builder, critic] = await pair();
    critic.always({ message: [{ text: 'no state' }] });
    const id = await brainstorms().start([builder, critic], { maxIterations: 3, timeoutMs: 600_000 });
    const page = await browser.open(at(`/${id}`));
    await badge(page, 'failed').waitFor();
    expect(await page.locator('[data-standing]').innerText()).toContain(critic.url);
    await page.locator('[data-pass="1"] [data-status="failed"]').waitFor();
    critic.always(holds());
    await page.getByRole('button', { name: 'Iterate' }).click();
    await page.locator('[data-pass="1"] [data-status="running"]').waitFor();
    await page.locator('[data-standing]', { hasText: `${critic.url} is at work` }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await badge(page, 'canceled').waitFor();
    expect((await brainstorms().get(id)).status).toBe('canceled');
  });

  inBrowser('has nothing serious for an accessibility checker, light and dark', async () => {
    const { brainstormId } = await brainstorms().finish([...(await pair())]);
    const page = await browser.open(at(''));
    for (const [path, ready] of [
      ['', 'table'],
      ['/new', 'form'],
      [`/${brainstormId}`, '[data-provenance]'],
    ] as const) {
      await page.goto(at(path));
      await page.locator(ready).first().waitFor();
      expect([path, await seriousFaultsInEitherTheme(page)]).toEqual([path, []]);
    }
  });
});
