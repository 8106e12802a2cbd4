import { readFileSync } from 'node:fs';
import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { copied } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { input, linear, output, script, unique } from '../support/workflow.js';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('what a run gives', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const ran = async (...parts: object[]): Promise<string> => {
    const pieces = parts.map((part, index) => ({ artifact: { artifactId: 'a', parts: [part], append: index > 0 } }));
    const workflow = linear(
      unique('result'),
      script('makes', ...(pieces as never[]), { complete: 'done' }),
      output('out'),
    );
    return (await stage.api.finish(workflow)).runId;
  };

  inBrowser('is one text where it came in pieces, and never HTML, script or a picture of elsewhere', async () => {
    const said = [
      '# Dura',
      'ble\n\n<b id="raw">bold</b> <img src=x onerror=alert(1)>\n\n',
      '![p](https://example.com/p.png)',
    ];
    const runId = await ran(...said.map((text) => ({ text })));
    const page = await browser.open(`${stage.parley.url}/runs/${runId}/nodes/makes`);
    const result = page.getByRole('region', { name: 'Output', exact: true });
    await result.getByRole('heading', { name: 'Durable' }).waitFor();
    await result.getByText('<b id="raw">').first().waitFor();
    expect(await page.locator('#raw, [data-details] img').count()).toBe(0);
    expect(await result.getByRole('link', { name: 'p', exact: true }).getAttribute('href')).toBe(
      'https://example.com/p.png',
    );
    expect(await copied(result.getByRole('button', { name: 'Copy the output' }))).toBe(said.join(''));
  });

  inBrowser('is data as a tree, pictures that came with it, and files to be kept', async () => {
    const many = Array.from({ length: 250 }, (_, index) => ({ n: index }));
    const runId = await ran(
      { data: { total: 2, pages: [{ title: 'Claims' }], many } },
      { raw: DOT, mediaType: 'image/png', filename: 'dot.png' },
      { raw: Buffer.from('<script>').toString('base64'), mediaType: 'text/html', filename: 'page.html' },
      { url: `data:image/png;base64,${DOT}`, filename: 'inline.png' },
      { url: 'javascript:alert(1)' },
    );
    const page = await browser.open(`${stage.parley.url}/runs/${runId}/nodes/makes`);
    const result = page.getByRole('region', { name: 'Output', exact: true });
    const tree = result.getByRole('region', { name: 'Data' });
    await tree.getByText('"total": 2').waitFor();
    expect(await tree.getByText('Claims').count()).toBe(0);
    await tree.getByRole('button', { name: 'pages' }).click();
    await tree.getByRole('button', { name: '0: { title }' }).click();
    await tree.getByText('Claims').waitFor();
    await tree.getByRole('button', { name: 'many' }).click();
    await tree.getByRole('button', { name: '150 more' }).click();
    await tree.getByRole('button', { name: '249: { n }' }).waitFor();

    const picture = (name: string) => result.getByRole('img', { name });
    await picture('inline.png').waitFor();
    const width = () => picture('dot.png').evaluate((it) => (it as unknown as { naturalWidth: number }).naturalWidth);
    await until(async () => (await width()) === 1, { what: 'the picture to be drawn' });
    expect(await result.locator('a[href^="javascript"]').count()).toBe(0);
    const saving = page.waitForEvent('download');
    await result.getByRole('link', { name: 'page.html' }).click();
    const file = await saving;
    expect([file.suggestedFilename(), readFileSync(await file.path(), 'utf8')]).toEqual(['page.html', '<script>']);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser('is shown as it was written where it would hold the page up, or be too deep to be drawn', async () => {
    const runId = await ran({ text: `${'> '.repeat(10_000)}deep` });
    const page = await browser.open(`${stage.parley.url}/runs/${runId}`);
    const result = page.getByRole('group', { name: 'Result, rendered' });
    await result.getByText('Shown as plain text').waitFor();
    await result.getByText(/> deep$/).waitFor();
  });

  inBrowser(
    'is in a list of runs whose columns are all in sight, however long a name, an input or a failure',
    async () => {
      const long = 'W'.repeat(400);
      const workflow = linear(unique('l'.repeat(40)), input('in'), script('makes', { fail: long }));
      await stage.api.finish(workflow, { in: long });
      for (const width of [1280, 360]) {
        const page = await browser.open(`${stage.parley.url}/runs?q=${workflow.name}`, { width });
        const runs = page.getByRole('region', { name: 'Runs' });
        await runs.getByRole('link', { name: workflow.name }).waitFor();
        expect(await runs.evaluate((it) => (it as unknown as { scrollWidth: number }).scrollWidth)).toBe(
          await runs.evaluate((it) => (it as unknown as { clientWidth: number }).clientWidth),
        );
      }
    },
  );

  inBrowser('is told once in its Task, and a Task without steps says so', async () => {
    const runId = await ran({ text: 'Hel' }, { text: 'lo' });
    const { taskId } = (await stage.api.run(runId)).nodes['makes'] ?? {};
    const page = await browser.open(`${stage.parley.url}/tasks/${taskId}`);
    await page.locator('[data-artifact]').getByText('Hello').waitFor();
    await page.getByRole('tab', { name: 'Transcript' }).click();
    await page.getByRole('heading', { name: 'Its agent reports no step' }).waitFor();
  });
});
