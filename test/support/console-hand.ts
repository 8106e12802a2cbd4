import type { Locator, Page } from 'playwright-core';
import { until } from './until.js';

/** Way in which a person operates the console: by mouse, by touch, or by keyboard alone. */
export interface ConsoleHand {
  /** Activates a button, a link, a checkbox, a tab, an item of a menu or a part of the canvas. */
  press(target: Locator): Promise<void>;
  /** Replaces the text of a field. */
  write(field: Locator, text: string): Promise<void>;
}

export type HandName = 'mouse' | 'touch' | 'keyboard';

export function handOf(name: HandName, page: Page): ConsoleHand {
  return name === 'keyboard' ? new KeyboardHand(page) : new PointerHand(page, name);
}

/** Operates a page by mouse or touch. A target that is out of sight or covered is not reached. */
class PointerHand implements ConsoleHand {
  constructor(
    private readonly page: Page,
    private readonly kind: 'mouse' | 'touch',
  ) {}

  press(target: Locator): Promise<void> {
    return this.kind === 'touch' ? target.tap() : target.click();
  }

  async write(field: Locator, text: string): Promise<void> {
    await this.press(field);
    await replaceText(this.page, text);
  }
}

/** Maximum number of keys to reach a target. */
const MOST_KEYS = 200;

/**
 * Operates a page by Tab, Shift+Tab, the arrow keys, Enter and Space alone. After each key the focus must be on an
 * element that is in sight, is not covered and is marked as focused.
 */
class KeyboardHand implements ConsoleHand {
  constructor(private readonly page: Page) {}

  async press(target: Locator): Promise<void> {
    await this.reach(target);
    const isCheckbox = await target.evaluate((it) => it.matches('input[type="checkbox"]'));
    await this.pressKey(isCheckbox ? 'Space' : 'Enter');
  }

  async write(field: Locator, text: string): Promise<void> {
    await this.reach(field);
    await replaceText(this.page, text);
    await this.assertFocus();
  }

  private async reach(target: Locator): Promise<void> {
    await target.waitFor();
    const passed: string[] = [];
    while (passed.length < MOST_KEYS) {
      const key = await findKeyTowards(target);
      if (key === '') return;
      await this.pressKey(key);
      passed.push(`${key} ${await this.page.evaluate<string>(FOCUSED)}`);
    }
    throw new Error(`The keyboard does not reach ${String(target)}:\n${passed.slice(-12).join('\n')}`);
  }

  private async pressKey(key: string): Promise<void> {
    await this.page.keyboard.press(key);
    await this.assertFocus(key);
  }

  /** Waits until the focus is in sight: a dialog returns it after it has closed. */
  private async assertFocus(key = 'the text'): Promise<void> {
    let fault = '';
    const isMarked = async (): Promise<boolean> => (fault = await this.page.evaluate<string>(FOCUS_FAULT)) === '';
    await until(isMarked, { what: () => `a focus in sight after ${key}: ${fault}` });
  }
}

async function replaceText(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Returns the key that leads from the focus towards an element; an empty text if the element has the focus. */
function findKeyTowards(target: Locator): Promise<string> {
  return target.evaluate((it) => {
    const active = it.ownerDocument.activeElement;
    if (!active || active === it) return '';
    // Node.DOCUMENT_POSITION_FOLLOWING
    const isAhead = (active.compareDocumentPosition(it) & 4) !== 0;
    const role = it.getAttribute('role');
    if (role === 'menuitem') return 'ArrowDown';
    if (role === 'tab' && active.closest('[role="tablist"]')?.contains(it)) return isAhead ? 'ArrowRight' : 'ArrowLeft';
    return isAhead ? 'Tab' : 'Shift+Tab';
  });
}

/** Source that returns the element with the focus, for a person. */
const FOCUSED = `(() => {
  const it = document.activeElement;
  const text = it?.getAttribute('aria-label') ?? it?.textContent ?? '';
  return (it?.tagName.toLowerCase() ?? 'nothing') + ' ' + text.trim().slice(0, 60);
})()`;

/**
 * Source that returns what is wrong with the focus; an empty text for nothing. A mark is an outline, a shadow, the
 * background of an item in a menu, or the thick line of an edge.
 */
const FOCUS_FAULT = `(() => {
  const it = document.activeElement;
  if (!it || it === document.body) return 'the focus is lost';
  const name = ${FOCUSED};
  const box = it.getBoundingClientRect();
  const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
  // A straight edge of a graph has no height.
  if (right < left || bottom < top || right - left + bottom - top < 1) return 'out of sight: ' + name;
  const shown = [[0.5, 0.5], [0.05, 0.5], [0.95, 0.5], [0.5, 0.1], [0.5, 0.9]].some(([x, y]) => {
    const at = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y);
    return at !== null && (it.contains(at) || at.contains(it));
  });
  if (!shown) return 'covered: ' + name;
  const isMarked = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  const field = it.closest('.cm-editor');
  const line = it.querySelector(':scope > .react-flow__edge-path');
  const isThick = line !== null && parseFloat(getComputedStyle(line).strokeWidth) >= 3;
  const isShown = isMarked(it) || (field && isMarked(field)) || isThick || it.matches('[data-highlighted]');
  return isShown ? '' : 'not marked: ' + name;
})()`;
