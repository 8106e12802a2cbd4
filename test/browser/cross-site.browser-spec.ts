import type { Page } from 'playwright-core';
import { inBrowser, useBrowser } from '../support/browser.js';
import { type Parley, startParley } from '../support/parley.js';
import { embed, goTo, listen, sendScripts, submitForm } from '../support/foreign-page.mjs';
import { useStage } from '../support/stage.js';
import { WebSite } from '../support/web-site.js';
import { Api, echo, input, linear, unique } from '../support/workflow.js';

const KEY = 'a-key-of-thirty-two-characters-00';
const WORKFLOW = unique('cross');

// Beside another service on its database, a service stores files in a shared folder only.
const stage = useStage({ env: { FILES_DIR_SHARED: 'true' } });
const browser = useBrowser(['evil.example', 'rebind.example', 'app.example']);
let site: WebSite;
let canary: WebSite;
let locked: Parley;

beforeAll(async () => {
  [site, canary] = await Promise.all([WebSite.start(), WebSite.start()]);
  stage.defer(() => [site, canary].forEach((it) => it.stop()));
  const env = { AUTH_MODE: 'api-key', AUTH_API_KEYS: `anna:${KEY}`, CORS_ORIGINS: site.at('app.example') };
  locked = await startParley({ databaseUrl: stage.database.url, env });
  stage.defer(() => locked.stop());
  await stage.api.save(linear(WORKFLOW, input('in'), echo('a')));
});

beforeEach(() => void (canary.hits = 0));

/** What a request that is refused must leave alone. */
async function kept(): Promise<unknown> {
  const [row] = await stage.database.query(`
    SELECT (SELECT count(*) FROM task) AS tasks, (SELECT count(*) FROM task_event) AS events,
      (SELECT count(*) FROM workflow) AS workflows, (SELECT count(*) FROM credential) AS credentials`);
  return row;
}

/** The statuses of all that a page has asked a service for, each once. */
function statusesOf(page: Page, base: string): Set<number> {
  const statuses = new Set<number>();
  page.on('response', (response) => {
    if (response.url().startsWith(base)) statuses.add(response.status());
  });
  return statuses;
}

const paths = (): string[] => [
  '/api/workflows',
  '/api/conversations',
  '/api/credentials',
  `/api/workflows/${WORKFLOW}/run`,
  `/api/workflows/${WORKFLOW}/runs`,
  `/a2a/workflows/${WORKFLOW}`,
];

const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

/** Sends a form of each kind to each address, from the page where it is. @returns the statuses of the answers, each once */
async function sendForms(page: Page, base: string): Promise<number[]> {
  const from = page.url();
  const statuses = new Set<number>();
  for (const path of paths()) {
    for (const type of FORM_TYPES) {
      const answered = page.waitForResponse(`${base}${path}`);
      await page.evaluate(submitForm, { url: `${base}${path}`, type });
      statuses.add((await answered).status());
      await page.waitForURL(`${base}${path}`);
      await page.goto(from);
    }
  }
  return [...statuses];
}

async function ticketProtocols(): Promise<string[]> {
  const headers = { authorization: `Bearer ${KEY}` };
  const { body } = await new Api(locked.url).call<{ protocols: string[] }>('POST', '/tickets', undefined, headers);
  return body.protocols;
}

describe.each(['evil.example', 'localhost', '127.0.0.1'])('a page of %s, on a port of its own', (name) => {
  inBrowser('starts nothing and stores nothing by forms', async () => {
    const { url } = stage.parley;
    const before = await kept();
    const page = await browser.open(site.at(name));
    expect(await sendForms(page, url)).toEqual([403]);
    expect(await kept()).toEqual(before);
  });

  inBrowser('nor by scripts, and reads nothing', async () => {
    const before = await kept();
    const page = await browser.open(site.at(name));
    for (const base of [stage.parley.url, locked.url]) {
      const statuses = statusesOf(page, base);
      const read = await page.evaluate(sendScripts, { base, paths: paths() });
      expect(read.filter((it) => it !== '')).toEqual([]);
      expect([...statuses]).toEqual([403]);
    }
    expect(await kept()).toEqual(before);
  });

  inBrowser('has nothing fetched for it', async () => {
    const page = await browser.open(site.at(name));
    const target = `${stage.parley.url}/api/agent-card?url=${encodeURIComponent(canary.at('127.0.0.1'))}`;
    await page.evaluate(embed, target);
    const answered = page.waitForResponse(target);
    await page.evaluate(goTo, target);
    expect((await answered).status()).toBe(403);
    expect(canary.hits).toBe(0);
  });

  inBrowser('hears of nothing that happens, with a ticket or without', async () => {
    const page = await browser.open(site.at(name));
    expect(await page.evaluate(listen, { base: stage.parley.url, protocols: [] })).toEqual(['refused', 'refused']);
    const protocols = await ticketProtocols();
    expect(await page.evaluate(listen, { base: locked.url, protocols })).toEqual(['refused', 'refused']);
  });

  inBrowser('may lead to the console', async () => {
    const page = await browser.open(site.at(name));
    await page.evaluate(goTo, `${stage.parley.url}/workflows`);
    await page.getByRole('link', { name: WORKFLOW }).first().waitFor();
  });
});

describe('a site that leads its own name to this machine', () => {
  inBrowser('reads nothing, starts nothing and hears nothing', async () => {
    const before = await kept();
    const base = `http://rebind.example:${new URL(stage.parley.url).port}`;
    const page = await browser.open(`${base}/`);
    const statuses = statusesOf(page, base);
    const read = await page.evaluate(sendScripts, { base, paths: paths() });
    for (const text of read) expect(text).toMatch(/^$|is not served here/);
    expect(await sendForms(page, base)).toEqual([421]);
    await page.evaluate(embed, `${base}/api/agent-card?url=${encodeURIComponent(canary.at('127.0.0.1'))}`);
    expect(await page.evaluate(listen, { base, protocols: [] })).toEqual(['refused', 'refused']);
    expect([...statuses]).toEqual([421]);
    expect(canary.hits).toBe(0);
    expect(await kept()).toEqual(before);
  });
});

/** What a console does: saves a workflow, starts it, and sees how it ends. */
async function work({ base, key, workflow }: { base: string; key?: string; workflow: string }): Promise<string> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const send = (path: string, body?: string): Promise<Response> =>
    fetch(`${base}${path}`, { headers, ...(body !== undefined && { method: 'POST', body }) });
  const { name } = (await (await send('/api/workflows', workflow)).json()) as { name: string };
  const run = await (await send(`/api/workflows/${name}/run`, '{"inputs":{"in":"heard"}}')).text();
  const list = await (await send('/api/runs')).text();
  return `${run}${list}`;
}

const ownWorkflow = (): string => JSON.stringify(linear(unique('own'), input('in'), echo('a')));

/** Pages that would call the canary, each in a file of its type. */
const uploadedPages = (): [type: string, page: string][] => {
  const run = `fetch('${canary.at('127.0.0.1')}', { mode: 'no-cors' })`;
  const svg = 'xmlns="http://www.w3.org/2000/svg"';
  return [
    ['text/html', `<!doctype html><title>uploaded</title><script>${run}</script>`],
    ['image/svg+xml', `<svg ${svg}><script>${run}</script></svg>`],
    ['application/xhtml+xml', `<html xmlns="http://www.w3.org/1999/xhtml"><script>${run}</script></html>`],
  ];
};

/** Uploads a file. @returns its URL, and a signed address of it */
async function uploaded(type: string, content: string): Promise<string[]> {
  const send = async <T>(path: string, init: RequestInit): Promise<T> =>
    (await (await fetch(`${stage.parley.url}${path}`, { method: 'POST', ...init })).json()) as T;
  const headers = { 'content-type': type };
  const { files } = await send<{ files: { id: string; url: string }[] }>('/api/upload', { headers, body: content });
  const { url } = await send<{ url: string }>(`/api/files/${files[0]!.id}/urls`, {});
  return [files[0]!.url, url];
}

describe('a page that somebody uploaded as a file', () => {
  inBrowser('is saved and never shown, by its URL and by a signed address', async () => {
    const page = await browser.open(`${stage.parley.url}/docs`);
    const shown = page.url();
    for (const [type, content] of uploadedPages()) {
      for (const address of await uploaded(type, content)) {
        const saving = page.waitForEvent('download');
        await page.evaluate(goTo, address);
        await (await saving).cancel();
        expect([type, page.url()]).toEqual([type, shown]);
      }
    }
    expect(canary.hits).toBe(0);
  });
});

describe('pages that may call', () => {
  inBrowser('the console calls by every name of this machine, and hears what happens', async () => {
    const { port } = new URL(stage.parley.url);
    for (const host of ['127.0.0.1', 'localhost', 'parley.localhost']) {
      const base = `http://${host}:${port}`;
      const page = await browser.open(`${base}/runs`);
      expect(await page.evaluate(work, { base: '', workflow: ownWorkflow() })).toMatch(
        /event: done[^]*"status":"completed"/,
      );
      expect(await page.evaluate(listen, { base, protocols: [] })).toEqual(['a frame', 'a frame']);
      await page.evaluate((url) => fetch(`/api/agent-card?url=${encodeURIComponent(url)}`), canary.at('127.0.0.1'));
      expect(canary.hits).toBeGreaterThan(0);
      canary.hits = 0;
    }
  });

  inBrowser('the console with an API key, and a page of CORS_ORIGINS', async () => {
    for (const address of [`${locked.url}/docs`, site.at('app.example')]) {
      const page = await browser.open(address);
      const told = await page.evaluate(work, { base: locked.url, key: KEY, workflow: ownWorkflow() });
      expect(told).toMatch(/event: done[^]*"status":"completed"/);
      const [socket] = await page.evaluate(listen, { base: locked.url, protocols: await ticketProtocols() });
      expect(socket).toBe('a frame');
    }
  });
});
