import type { Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { nodeReaches } from '../support/console-page.js';
import { holds } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { external, input, linear, output, script, unique } from '../support/workflow.js';

const EVENTS = '**/api/runs/*/events?*';
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
/** Statements about a state that nothing has been read of. */
const FALSE_STATE = /Running|Pending|Waits for|Nothing happened yet|About to start/;

interface Case {
  runId: string;
  /** Label of the status that the service reports. */
  label: string;
  node: string;
  status: string;
  isCancelable: boolean;
}

describe('the view of a run whose events are slow', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  /** Returns a run in each state. */
  const startRuns = async (): Promise<Case[]> => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    stage.defer(() => fake.release());
    const completed = await stage.api.finish(linear(unique('done'), input('in'), output('out')), { in: 'x' });
    const failed = await stage.api.finish(linear(unique('fails'), script('out', { fail: 'No paper left' })));
    const begin = async (...nodes: Parameters<typeof linear>[1][]): Promise<string> => {
      const { name } = await stage.api.save(linear(unique('slow'), ...nodes));
      return stage.api.start(name);
    };
    const canceled = await begin(external('out', fake.url));
    await stage.api.call('POST', `/runs/${canceled}/cancel`);
    await stage.api.ended(canceled);
    const waiting = await begin({ id: 'out', type: 'human', config: { prompt: 'Well?' } });
    await stage.api.reached(waiting, ['input-required']);
    const running = await begin(external('out', fake.url));
    const known = { node: 'out', isCancelable: false };
    return [
      { ...known, runId: completed.runId, label: 'Completed', status: 'completed' },
      { ...known, runId: failed.runId, label: 'Failed', status: 'failed' },
      { ...known, runId: canceled, label: 'Canceled', status: 'canceled' },
      { ...known, runId: waiting, label: 'Waiting', status: 'input-required' },
      { ...known, runId: running, label: 'Running', status: 'running', isCancelable: true },
    ];
  };

  inBrowser('shows the status that the service reports, and no state that it has not read', async () => {
    const page = await browser.open('about:blank');
    for (const { runId, label, node, status, isCancelable } of await startRuns()) {
      const gate = Promise.withResolvers<void>();
      await page.route(EVENTS, (route) => gate.promise.then(() => route.continue()));
      const expectKnown = async (path: string, heading: string): Promise<void> => {
        await page.goto(`${stage.parley.url}/runs/${runId}${path}`);
        await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { name: heading }).waitFor();
        await page.locator(`header [data-status="${status}"]`).waitFor();
        expect((await falseStates(page)).filter((text) => text !== label)).toEqual([]);
        expect(await page.getByRole('button', { name: 'Cancel run' }).count()).toBe(isCancelable ? 1 : 0);
      };
      await expectKnown(`/nodes/${node}`, node);
      if (status === 'completed') await expectKnown('?view=timeline', 'Inputs');
      await page.setViewportSize(PHONE);
      if (status !== 'canceled') await expectKnown('?view=details', 'Inputs');
      await page.setViewportSize(DESKTOP);
      gate.resolve();
      await nodeReaches(page, node, status);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
  });

  inBrowser('keeps the status that the service reports where the events cannot be read', async () => {
    const { runId } = await stage.api.finish(linear(unique('fails'), script('out', { fail: 'No paper left' })));
    const page = await browser.open('about:blank');
    await page.route(EVENTS, (route) => route.fulfill({ status: 403, body: '{}', contentType: 'application/json' }));
    await page.goto(`${stage.parley.url}/runs/${runId}`);
    await page.getByRole('alert').waitFor();
    await page.locator('header [data-status="failed"]').waitFor();
    await page.locator('[data-cause]').getByText('No paper left').waitFor();
    await page.getByText('The events could not be read.').waitFor();
    expect(await falseStates(page)).toEqual([]);
  });
});

/** Returns the texts of a page that state something about a run that is not known yet. */
async function falseStates(page: Page): Promise<string[]> {
  const lines = (await page.locator('body').innerText()).split('\n');
  return lines.filter((line) => FALSE_STATE.test(line));
}
