import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

describe('the MCP servers of the settings', () => {
  const stage = useSharedStage();
  const browser = useBrowser();
  const at = (path: string) => `${stage.parley.url}/settings/mcp-servers${path}`;

  const server = async (): Promise<McpHttpServer> => {
    const mcp = await McpHttpServer.start();
    stage.defer(() => mcp.stop());
    mcp.tools = [
      { name: 'search', description: 'Searches', annotations: { readOnlyHint: true } },
      { name: 'erase', description: 'Erases a page' },
    ];
    return mcp;
  };

  inBrowser('are led to by their names, also by `new`', async () => {
    const { url } = await server();
    expect((await stage.api.call('POST', '/mcp-servers', { name: 'new', url })).status).toBe(201);
    stage.defer(() => stage.api.call('DELETE', '/mcp-servers/new'));
    const page = await browser.open(at(''));
    await page.getByRole('table').getByRole('link', { name: 'new', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'new', exact: true }).waitFor();
  });

  inBrowser('are added, changed and deleted, with what is wrong told beside the field', async () => {
    const mcp = await server();
    const name = unique('docs');
    const page = await browser.open(`${stage.parley.url}/settings/new-mcp-server`);
    page.on('dialog', (dialog) => void dialog.accept());
    const field = (label: string) => page.locator('form > div', { has: page.getByLabel(label, { exact: true }) });
    await page.getByLabel('Name', { exact: true }).fill('two words');
    await page.getByLabel('URL').fill('http://169.254.169.254/latest');
    await page.getByLabel('Allowed tools').fill('search*, not this');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await field('Name').getByRole('alert').getByText('must be 1 to 64 letters').waitFor();
    await field('Allowed tools').getByRole('alert').getByText('Entry 2 must be a glob').waitFor();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Allowed tools').fill('search*');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await field('URL').getByRole('alert').getByText('that this service may call').waitFor();
    await page.getByLabel('URL').fill(mcp.url);
    await page.getByRole('button', { name: 'Add', exact: true }).click();

    await page.locator(`[data-tool="${name}/search"]`).getByText('only reads').waitFor();
    await page.locator(`[data-tool="${name}/erase"]`).getByText('not allowed').waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Allowed tools').fill('');
    await page.getByLabel('Tools that need approval').fill('erase');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator(`[data-tool="${name}/erase"]`).getByText('needs approval').waitFor();
    const { body } = await stage.api.call('GET', `/mcp-servers/${name}`);
    expect(body).toMatchObject({ url: mcp.url, approve: ['erase'] });
    expect(body.allow).toBeUndefined();

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(at(''));
    expect((await stage.api.call('GET', `/mcp-servers/${name}`)).status).toBe(404);
  });

  inBrowser('show what has changed about their tools, which is accepted, and that they are away', async () => {
    const mcp = await server();
    const name = await keepMcpServer(stage.api, { url: mcp.url });
    const page = await browser.open(at(`/${name}`));
    const badge = (status: string) => page.locator(`header [data-status="${status}"]`);
    await badge('ok').waitFor();
    mcp.tools = [{ name: 'search', description: 'Searches everything' }, ...mcp.tools.slice(1), { name: 'more' }];
    await page.getByRole('button', { name: 'Refresh' }).click();
    await badge('changed').waitFor();
    const change = page.locator('[data-change="search"]');
    await page.locator('[data-change="more"]').getByText('is new').waitFor();
    expect(await change.locator('del').allInnerTexts()).toContain('- Searches');
    expect(await change.locator('ins').allInnerTexts()).toContain('+ Searches everything');
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.getByRole('button', { name: 'Accept the changes' }).click();
    await badge('ok').waitFor();
    await change.waitFor({ state: 'detached' });

    await mcp.stop();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await badge('unreachable').waitFor();
    await page.getByRole('alert').getByText('It cannot be reached').waitFor();
    await page.locator(`[data-tool="${name}/search"]`).waitFor();
    await page.getByRole('link', { name: 'MCP servers' }).click();
    const row = page.getByRole('row', { name });
    await row.scrollIntoViewIfNeeded();
    await row.locator('[data-status="unreachable"]').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser('call a tool by the form of its arguments, and ask before one that may change something', async () => {
    const mcp = await server();
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    mcp.tools = mcp.tools.map((tool) => ({ ...tool, inputSchema: schema }));
    const name = await keepMcpServer(stage.api, { url: mcp.url });
    const page = await browser.open(at(`/${name}`), { width: 390, height: 844 });
    const questions: string[] = [];
    let answer = false;
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void (answer ? dialog.accept() : dialog.dismiss());
    });
    const tool = (of: string) => page.locator(`[data-tool="${name}/${of}"]`);
    for (const kind of ['search', 'erase']) {
      await tool(kind).getByText('Call it').focus();
      await page.keyboard.press('Enter');
      await tool(kind).getByLabel('text').fill(`about ${kind}`);
    }
    await tool('search').getByRole('button', { name: 'Call', exact: true }).click();
    await tool('search').locator('[data-called="ok"]').getByText('about search').waitFor();
    expect(questions).toEqual([]);
    await tool('erase').getByRole('button', { name: 'Call', exact: true }).click();
    expect(questions).toEqual([expect.stringContaining('may change something')]);
    expect(mcp.calls.map((it) => it.tool)).toEqual(['search']);
    answer = true;
    await tool('erase').getByRole('button', { name: 'Call', exact: true }).click();
    await tool('erase').locator('[data-called="ok"]').getByText('about erase').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser("cannot be changed where they are from the operator's file", async () => {
    const mcp = await server();
    const name = await keepMcpServer(stage.api, { url: mcp.url });
    const page = await browser.open(at(''));
    await page.route(`**/api/mcp-servers/${name}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...((await answer.json()) as object), source: 'file' } });
    });
    await page.goto(at(`/${name}`));
    await page.getByText('MCP_SERVERS_FILE').waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  });
});
