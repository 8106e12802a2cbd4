import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { copied } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { linear, script, unique } from '../support/workflow.js';

const newTrace = (): string => randomBytes(16).toString('hex');
const traced = (traceId: string): Record<string, string> => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });

const traceIdIn = (page: Page, within: string): Promise<string> =>
  copied(page.locator(within).getByRole('button', { name: 'Copy trace id' }));

describe('the id of a trace in the console', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser("stands in the header of a run that its caller traced: the caller's", async () => {
    const { name } = await stage.api.save(linear(unique('traced'), script('a', { complete: 'done' })));
    const [traceId, other] = [newTrace(), newTrace()];
    for (const id of [traceId, other]) {
      const runId = await stage.api.start(name, {}, traced(id));
      await stage.api.ended(runId);
      const page = await browser.open(`${stage.parley.url}/runs/${runId}`);
      await page
        .locator('header')
        .getByText(`trace …${id.slice(-8)}`)
        .waitFor();
      expect(await traceIdIn(page, 'header')).toBe(id);
    }
  });

  inBrowser('stands in the header of a run that nobody traced: the one that follows from its id', async () => {
    const { name } = await stage.api.save(linear(unique('untraced'), script('a', { complete: 'done' })));
    const runId = await stage.api.start(name);
    await stage.api.ended(runId);
    const page = await browser.open(`${stage.parley.url}/runs/${runId}`);
    const traceId = runId.replaceAll('-', '');
    await page
      .locator('header')
      .getByText(`trace …${traceId.slice(-8)}`)
      .waitFor();
    expect(await traceIdIn(page, 'header')).toBe(traceId);
  });

  inBrowser('stands beside what the service refused, where the request was traced', async () => {
    const page = await browser.open(`${stage.parley.url}/runs`);
    const traceId = newTrace();
    // As a proxy in front of the service does.
    await page.setExtraHTTPHeaders(traced(traceId));
    await page.goto(`${stage.parley.url}/conversations/nope`);
    await page.getByRole('alert').getByText('conversation not found').waitFor();
    expect(await traceIdIn(page, '[role="alert"]')).toBe(traceId);
  });
});
