import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BROWSER_PATH, inBrowser, launchChromium } from '../support/browser.js';

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
});
