import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BROWSER_PATH, closeContexts, inBrowser, launchChromium } from '../support/browser.js';
import { WebSite } from '../support/web-site.js';

describe('the browser of a test file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  inBrowser('is started once more where it crashed at its start', async () => {
    const [program, mark] = [join(folder, 'chromium'), join(folder, 'crashed')];
    const script = `#!/bin/sh
[ -e '${mark}' ] || { touch '${mark}'; kill -SEGV $$; }
exec '${BROWSER_PATH}' "$@"
`;
    writeFileSync(program, script, { mode: 0o755 });
    const browser = await launchChromium(program, ['--no-sandbox']);
    expect(browser.isConnected()).toBe(true);
    await browser.close();
  });

  inBrowser('may be closed while a route of a page is still answered', async () => {
    const site = await WebSite.start();
    const browser = await launchChromium(BROWSER_PATH, ['--no-sandbox']);
    const context = await browser.newContext();
    const page = await context.newPage();
    const fetched = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const body = Promise.withResolvers<string>();
    await page.route('**/*', async (route) => {
      const response = await route.fetch();
      fetched.resolve();
      await closed.promise;
      const text = response.text();
      text.then(body.resolve, body.reject);
      await route.fulfill({ body: await text });
    });
    const opened = page.goto(site.at('127.0.0.1')).catch(() => undefined);
    await fetched.promise;
    await closeContexts([context]);
    closed.resolve();
    await expect(body.promise).rejects.toThrow('Response has been disposed');
    await Promise.all([opened, browser.close()]);
    site.stop();
  });
});
