import type { Locator, Page } from 'playwright-core';
import { until } from './until.js';

/** Returns the element of a node on the canvas. */
export function nodeOf(page: Page, id: string) {
  return page.locator(`[data-node="${id}"]`);
}

/** Waits until a node of a run has a status. */
export async function nodeReaches(page: Page, id: string, status: string): Promise<void> {
  await page.locator(`[data-node="${id}"][data-status="${status}"]`).waitFor();
}

/** Draws an edge with the mouse, from the right side of a node to the left side of another. */
export async function drawEdge(page: Page, from: string, to: string): Promise<void> {
  const edges = page.locator('.react-flow__edge');
  const count = await edges.count();
  await nodeOf(page, from).locator('.source').hover();
  await page.mouse.down();
  await nodeOf(page, to).locator('.target').hover();
  await page.mouse.up();
  await edges.nth(count).waitFor({ state: 'attached' });
}

/**
 * Clicks a button that copies text, and returns the copied text. The button shows that it has copied for a moment only.
 */
export async function copied(button: Locator): Promise<string> {
  const page = button.page();
  await page.evaluate("navigator.clipboard.writeText('')");
  await button.click();
  const inClipboard = async (): Promise<string | false> =>
    (await page.evaluate<string>('navigator.clipboard.readText()')) || false;
  return until(inClipboard, { what: 'something in the clipboard' });
}

/** Returns the number of events that the console panel shows, once there are at least `least`. */
export async function consoleCount(page: Page, least: number): Promise<number> {
  const counter = page.locator('[data-count]');
  const counted = async (): Promise<number | false> => {
    const count = Number(await counter.getAttribute('data-count'));
    return count >= least && count;
  };
  return until(counted, { what: `${least} events in the console` });
}

/** Waits until the console panel shows exactly these lines, each as `type text`. */
export async function showsLines(page: Page, lines: readonly string[]): Promise<void> {
  let shown: string[] = [];
  const areShown = async (): Promise<boolean> => (shown = await consoleLines(page)).join('\n') === lines.join('\n');
  await until(areShown, { what: () => `the lines\n${lines.join('\n')}\nnot\n${shown.join('\n')}` });
}

/** Returns the visible lines of the console panel, each as `type text`. */
export async function consoleLines(page: Page): Promise<string[]> {
  const lines = page.locator('[data-line]');
  return lines.evaluateAll((all) =>
    all.map((line) => {
      const [, ...texts] = [...line.querySelectorAll('span')].map((it) => it.textContent);
      return texts.join(' ').trim();
    }),
  );
}
