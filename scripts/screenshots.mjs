/**
 * Takes the screenshots (`npm run screenshots`): starts the product with some data, and takes a picture of each view of
 * the console, in the light and the dark theme, into docs/console/. Arguments name the pictures to take; default: all.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium } from './chromium.mjs';
import { PICTURES } from './console/pictures.mjs';
import { Product, fill } from './console/product.mjs';
import { ROOT, ensureBuilt, ensureInstalled } from './prepare.mjs';

const FOLDER = join(ROOT, 'docs', 'console');
const VIEWPORT = { width: 1280, height: 800 };

ensureInstalled();
ensureBuilt();
const { path, reason } = ensureChromium();
if (!path) {
  console.error(reason);
  process.exit(1);
}
const { chromium } = await import('playwright-core');
const product = new Product();
try {
  const facts = await fill(await product.start());
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  mkdirSync(FOLDER, { recursive: true });
  for (const picture of chosen()) for (const theme of ['light', 'dark']) await take(browser, facts, picture, theme);
  await browser.close();
} finally {
  await product.stop();
}

function chosen() {
  const names = process.argv.slice(2);
  return names.length === 0 ? PICTURES : PICTURES.filter(({ name }) => names.includes(name));
}

async function take(browser, facts, { name, path: pathOf, ready, before }, theme) {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: theme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${facts.parleyUrl}${pathOf(facts)}`);
  await page.locator(ready).first().waitFor();
  await before?.(page);
  await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined);
  const file = join(FOLDER, `${name}-${theme}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  await context.close();
  console.log(`docs/console/${name}-${theme}.png ${Math.round(statSync(file).size / 1024)} kB`);
}
