import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';

const VIEWS = ['Workflows', 'Runs', 'Conversations', 'Brainstorms', 'Agents', 'Tasks'];

/** Types into the first text area of a page without a pause: also between a change of its system and the news of it. */
const TYPE_WITHOUT_PAUSE = `{
  const area = document.querySelector('textarea');
  const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    set.call(area, area.value === 'a' ? 'b' : 'a');
    area.dispatchEvent(new InputEvent('input', { bubbles: true }));
    port2.postMessage(undefined);
  };
  port2.postMessage(undefined);
}`;
/** Changes the elements of a page without a pause, and removes a button that has the focus. */
const LOSE_FOCUS = `{
  const part = document.body.appendChild(document.createElement('p'));
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    part.replaceChildren(document.createElement('br'));
    port2.postMessage(undefined);
  };
  port2.postMessage(undefined);
  const button = document.querySelector('main').appendChild(document.createElement('button'));
  button.focus();
  button.remove();
}`;
/** To look at a page has it find out at once what has changed. */
const TWO_FRAMES = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

describe('the console', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('row F10: is served at / and shows its views', async () => {
    const page = await browser.open(stage.parley.url);
    for (const view of VIEWS) {
      await page.getByRole('navigation').getByRole('link', { name: view }).first().click();
      await page.getByRole('heading', { level: 1, name: view }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/${view.toLowerCase()}`);
    }
  });

  inBrowser('opens a deep link, and says where there is nothing', async () => {
    const page = await browser.open(`${stage.parley.url}/tasks`);
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    await page.goto(`${stage.parley.url}/no-such-view`);
    await page.getByText('There is nothing at this address').waitFor();
  });

  inBrowser('tries again by itself where the first load of a page failed', async () => {
    const page = await browser.open(`${stage.parley.url}/tasks`);
    let refused = 0;
    await page.route('**/api/workflows', (route) => {
      refused += 1;
      return refused > 2 ? route.continue() : route.fulfill({ status: 503, body: '' });
    });
    await page.getByRole('navigation').getByRole('link', { name: 'Workflows' }).first().click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(refused).toBeGreaterThan(2);
  });

  inBrowser('says in plain words that a view cannot be loaded, and loads it when the service is back', async () => {
    const page = await browser.open(stage.parley.url);
    await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).waitFor();
    await page.route('**/assets/**', (route) => route.abort());
    await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.unroute('**/assets/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  });

  inBrowser('cuts no name of a view on a phone', async () => {
    const page = await browser.open(stage.parley.url, { width: 390 });
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    await links.first().waitFor();
    const cut = await links.evaluateAll((all) =>
      all.filter((it) =>
        [it, ...it.children].some((part) => part.scrollWidth > part.clientWidth && part.clientWidth > 0),
      ),
    );
    expect(cut).toHaveLength(0);
  });

  inBrowser('keeps the theme that was chosen', async () => {
    const page = await browser.open(stage.parley.url);
    await page.getByRole('button', { name: 'Use the dark theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Use the light theme' }).waitFor();
    expect(await page.locator('html').getAttribute('class')).toBe('dark');
  });

  inBrowser('takes the theme of its system also where that changes while a view is drawn', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows/new`);
    await page.locator('.react-flow__pane').waitFor();
    await page.evaluate(TYPE_WITHOUT_PAUSE);
    for (const colorScheme of Array.from({ length: 10 }, (_, change) => (change % 2 === 0 ? 'dark' : 'light'))) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(TWO_FRAMES);
      await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
    }
  });

  inBrowser('gives back a lost focus while the page changes all the time', async () => {
    const page = await browser.open(`${stage.parley.url}/tasks`);
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    await page.evaluate(LOSE_FOCUS);
    await page.locator('h1:focus').waitFor();
  });

  inBrowser('has nothing serious for an accessibility checker, light and dark, wide and narrow', async () => {
    for (const [theme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
      ['dark', 390],
    ] as const) {
      const page = await browser.open(`${stage.parley.url}/agents`, { theme, width });
      await page.getByRole('table', { name: 'Agents' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    }
  });
});
