import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentProcess } from '../e2e/agent-app/agent-process.js';
import { inBrowser, useBrowser } from '../support/browser.js';
import { consoleCount, consoleLines, drawEdge, nodeOf, nodeReaches, showsLines } from '../support/console-page.js';
import { freshDatabase } from '../support/postgres.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

const SCRIPT = {
  rules: [{ when: { turn: 1 }, steps: [{ status: 'working' }, { ask: 'Which tone?' }] }],
  otherwise: [{ artifact: { parts: [{ text: 'A {{text}} text' }] } }, { complete: 'done' }],
};

describe('from an empty canvas to a result', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const startAgent = async (): Promise<string> => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-console-'));
    writeFileSync(join(folder, 'script.json'), JSON.stringify(SCRIPT));
    const database = await freshDatabase();
    const agent = AgentProcess.spawn(['--script', join(folder, 'script.json')], database.url);
    stage.defer(async () => {
      await agent.signal('SIGKILL');
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    });
    return agent.ready();
  };

  inBrowser(
    'row G4: builds a workflow with an external agent by hand, runs it, answers its question, and sees every node green',
    async () => {
      const agentUrl = await startAgent();
      const name = unique('journey');
      const page = await browser.open(`${stage.parley.url}/workflows/new`);

      await page.getByLabel('Name', { exact: true }).fill(name);
      const palette = page.getByRole('group', { name: 'Node types' });
      const pane = page.locator('.react-flow__pane');
      for (const [index, label] of ['User Input', 'External Agent', 'Output'].entries()) {
        const targetPosition = { x: 110 + index * 190, y: 200 + index * 90 };
        await palette.getByRole('button', { name: label }).dragTo(pane, { targetPosition });
      }
      await nodeOf(page, 'external1').click();
      await page.getByLabel('Endpoint URL').fill(agentUrl);
      await drawEdge(page, 'input1', 'external1');
      await drawEdge(page, 'external1', 'output1');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.waitForURL(`**/workflows/edit/${name}`);
      await nodeOf(page, 'output1').waitFor();

      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('textbox', { name: 'input1' }).fill('Greet the reader');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.waitForURL('**/runs/*');
      await page.getByRole('button', { name: 'Copy trace id' }).waitFor();
      await nodeReaches(page, 'input1', 'completed');
      await nodeReaches(page, 'external1', 'input-required');
      await nodeReaches(page, 'output1', 'pending');
      await page.locator('[data-cause]').getByText('Waits for an answer to external1: Which tone?').waitFor();

      // The question is the last event of a run that waits.
      await page.locator('[data-line="input.required"]').waitFor();
      const count = await consoleCount(page, 1);
      const before = await consoleLines(page);
      expect(before).toContain(`a2a.sending [external1] (external) → ${agentUrl}`);
      await page.reload();
      await nodeReaches(page, 'external1', 'input-required');
      await page.locator('[data-line="input.required"]').waitFor();
      expect(await consoleCount(page, count)).toBe(count);
      await showsLines(page, before);

      await page.getByLabel('Answer to external1').fill('friendly');
      await page.getByRole('button', { name: 'Send answer' }).click();
      for (const id of ['input1', 'external1', 'output1']) await nodeReaches(page, id, 'completed');
      expect(await nodeOf(page, 'output1').getAttribute('class')).toContain('ring-success');
      await page.locator('[data-line="done"]').waitFor();
      await nodeOf(page, 'external1').click();
      await page.getByRole('region', { name: 'Input' }).getByText('Greet the reader').waitFor();
      await page.getByRole('region', { name: 'Output' }).getByText('A friendly text').first().waitFor();
      expect(new URL(page.url()).pathname).toMatch(/\/runs\/[^/]+\/nodes\/external1$/);
    },
  );
});
