import type { Page } from 'playwright-core';

/**
 * Returns the texts of a page with a word of 40 characters or more that leave their box, are cut without a sign, or
 * make a part of the page scroll sideways. The lines of the console panel may scroll: each event has one line.
 */
export function longIdFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const faults = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      const owner = text.parentElement;
      if (!/[\\w-]{40,}/.test(text.data) || !owner.checkVisibility()) continue;
      if (owner.closest('.sr-only, [aria-label="Lines of the console"]')) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      const { left, right, width } = range.getBoundingClientRect();
      if (width === 0) continue;
      const isBeyond = (frame) => right > frame.right + 1 || left < frame.left - 1;
      const report = (fault, box) =>
        faults.add(fault + ': "' + text.data.trim().slice(0, 30) + '" in ' + box.tagName.toLowerCase() + ' ' +
          (box.getAttribute('aria-label') ?? box.className));
      for (let box = owner; box; box = box.parentElement) {
        const style = getComputedStyle(box);
        if (style.display === 'inline' || style.display === 'contents') continue;
        const frame = box.getBoundingClientRect();
        const isCutWithSign = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
        if (style.overflowX !== 'visible') {
          if (style.overflowX === 'hidden' && isBeyond(frame) && !isCutWithSign) report('cut', box);
          const isScrolled = style.overflowX !== 'hidden' && box.scrollWidth > box.clientWidth + 1;
          if (isScrolled) report('scrolled', box);
          break;
        }
        const isFramed = parseFloat(style.borderLeftWidth) > 0 || style.backgroundColor !== 'rgba(0, 0, 0, 0)';
        if ((isFramed || box === document.body) && isBeyond(frame)) report('outside', box);
      }
    }
    if (document.documentElement.scrollWidth > innerWidth) faults.add('the page is scrolled sideways');
    return [...faults];
  })()`);
}
