import type { Locator, Page } from 'playwright-core';
import { inBrowser, type OpenOptions, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { copied, nodeOf } from '../support/console-page.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { unique, type Workflow } from '../support/workflow.js';

const agent = (id: string, prompt?: string) => ({ id, type: 'agent', config: prompt === undefined ? {} : { prompt } });

/** `first`, then `second`, then a loop of `third` and `fourth`; `aside` stands alone, and `topic` is an input. */
const ordered = (name: string, prompts: Record<string, string> = {}): Workflow =>
  ({
    name,
    language: 2,
    nodes: [
      { id: 'topic', type: 'input', config: {} },
      ...['fourth', 'first', 'second', 'third', 'aside'].map((id) => agent(id, prompts[id] ?? 'x')),
    ],
    edges: [
      { from: 'first', to: 'second' },
      { from: 'second', to: 'third', when: "nodes.first.text == 'x'" },
      { from: 'third', to: 'fourth' },
      { from: 'fourth', to: 'third', loop: { max_iterations: 2, exit_when: 'iteration > 1' } },
    ],
  }) as unknown as Workflow;

describe('the fields for texts and expressions', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  const edit = async (workflow: Workflow, options: OpenOptions = { width: 1600 }): Promise<Page> => {
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/workflows/edit/${workflow.name}`, options);
    await page.locator('[data-node]').first().waitFor();
    return page;
  };
  const prompt = async (page: Page, node: string): Promise<Locator> => {
    await nodeOf(page, node).click();
    return page.getByLabel('Prompt', { exact: true });
  };
  /** Waits until the open list has these names; those below its heading are in brackets. */
  const lists = async (page: Page, names: string[]): Promise<void> => {
    let listed: string[] = [];
    const areListed = async (): Promise<boolean> => {
      listed = await page.getByRole('listbox').evaluateAll((lists) => {
        const rows = lists.flatMap((list) => [...list.children]);
        const heading = rows.findIndex(({ tagName }) => tagName === 'COMPLETION-SECTION');
        return rows.flatMap((row, index) => {
          const name = row.querySelector('.cm-completionLabel')?.textContent;
          if (!name) return [];
          return heading >= 0 && index > heading ? `(${name})` : name;
        });
      });
      return listed.join() === names.join();
    };
    await until(areListed, { what: () => `the list ${names.join()}, not ${listed.join()}` });
  };

  inBrowser('lists first the nodes that have run, and the others below a heading', async () => {
    const page = await edit(ordered(unique('order')));
    const second = await prompt(page, 'second');
    await second.fill('');
    await second.pressSequentially('{{');
    await lists(page, ['topic', 'first', '(fourth)', '(third)', '(aside)']);
    const named = page.getByRole('option', { name: /^aside\s+Not run before this$/ });
    await named.waitFor();
    await page.locator('completion-section', { hasText: 'Not run before this' }).waitFor();
    // What is taken from below the heading is what the service warns of.
    await second.press('ArrowUp');
    await second.press('Enter');
    expect(await second.innerText()).toBe('{{aside}}');
    await page.locator('.code-warning', { hasText: '{{aside}}' }).waitFor();

    const third = await prompt(page, 'third');
    await third.fill('');
    await third.pressSequentially('${nodes.');
    await lists(page, ['fourth', 'first', 'second', 'third', '(topic)', '(aside)']);
    const aside = await prompt(page, 'aside');
    await aside.fill('');
    await aside.pressSequentially('{{');
    await lists(page, ['topic', '(fourth)', '(first)', '(second)', '(third)']);

    await page.locator('[data-edge-label="second->third"]').click();
    const when = page.getByLabel('Only when');
    await when.fill('');
    await when.pressSequentially('nodes.');
    await lists(page, ['first', 'second', '(topic)', '(fourth)', '(third)', '(aside)']);
    await page.locator('[data-edge-label="fourth->third"]').click();
    const exit = page.getByRole('textbox', { name: 'Until' });
    await exit.fill('');
    await exit.pressSequentially('nodes.');
    await lists(page, ['fourth', 'first', 'second', 'third', '(topic)', '(aside)']);
  });

  inBrowser('marks what the service finds in a text, at its place', async () => {
    const page = await edit(ordered(unique('marks')));
    const second = await prompt(page, 'second');
    await second.fill('Say {{first}} and ${nodes.absent.text} of ${1 + 1}');
    await page.locator('.code-error', { hasText: 'absent' }).waitFor();
    expect(await page.locator('.code-reference').allInnerTexts()).toEqual(['{{first}}']);
    expect(await page.locator('.code-number').allInnerTexts()).toEqual(['1', '1']);
    await second.fill('Say {{first}}');
    await page.locator('.code-error').waitFor({ state: 'detached' });

    await page.locator('[data-edge-label="second->third"]').click();
    const when = page.getByLabel('Only when');
    await when.fill('nodes.first.text == other');
    await page.locator('.code-error', { hasText: 'other' }).waitFor();
    await page.locator('[data-expression="invalid"]').getByText('(character 21)').waitFor();
    expect(await when.getAttribute('aria-invalid')).toBe('true');
    await when.fill("nodes.first.text == 'other'");
    await page.locator('[data-expression="valid"]').waitFor();
    await page.locator('.code-error').waitFor({ state: 'detached' });
    expect(await page.locator('.code-string').innerText()).toBe("'other'");
  });

  inBrowser('is left by Tab, and Escape closes its list before the dialog around it', async () => {
    const page = await edit(ordered(unique('keys')));
    const second = await prompt(page, 'second');
    await second.fill('');
    await second.pressSequentially('{{fi');
    await page.getByRole('option', { name: 'first' }).waitFor();
    await second.press('Tab');
    expect(await second.innerText()).toBe('{{first}}');
    expect(await second.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await second.press('Tab');
    expect(await second.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(false);
    await page.locator('label', { hasText: /^Prompt$/ }).click();
    expect(await second.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);

    await page.locator('[data-edge-label="second->third"]').click();
    const when = page.getByLabel('Only when');
    await when.fill('');
    await when.press('Control+ ');
    await page.getByRole('option', { name: 'nodes' }).waitFor();
    await when.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'detached' });

    await nodeOf(page, 'fourth').locator('.source').hover();
    await page.mouse.down();
    await nodeOf(page, 'second').locator('.target').hover();
    await page.mouse.up();
    const dialog = page.getByRole('dialog', { name: 'Make this a loop?' });
    await dialog.getByLabel('Until').pressSequentially('it');
    await dialog.getByRole('option', { name: 'iteration' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('listbox').waitFor({ state: 'detached' });
    expect(await dialog.getByLabel('Until').innerText()).toBe('it');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  inBrowser('undoes and redoes what was typed, apart from the changes of the canvas', async () => {
    const page = await edit(ordered(unique('undo')));
    await nodeOf(page, 'aside').click();
    await page.keyboard.press('Delete');
    await nodeOf(page, 'aside').waitFor({ state: 'detached' });
    const second = await prompt(page, 'second');
    await second.press('Control+End');
    // At once: what is typed with pauses is undone in pieces.
    await page.keyboard.insertText(' one');
    await second.press('Control+z');
    await second.press('Control+z');
    expect(await second.innerText()).toBe('x');
    expect(await nodeOf(page, 'aside').count()).toBe(0);
    await second.press('Control+Shift+z');
    expect(await second.innerText()).toBe('x one');
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await second.innerText()).toBe('x');
    // What the canvas has undone is not typed again.
    await second.press('Control+z');
    expect(await second.innerText()).toBe('x');
    await second.press('Enter');
    await second.pressSequentially('two');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Not saved').waitFor({ state: 'detached' });
    const { body } = await stage.api.call<Workflow>('GET', new URL(page.url()).pathname.replace('/edit', ''));
    expect(body.nodes.find(({ id }) => id === 'second')?.config).toEqual({ prompt: 'x\ntwo' });
  });

  inBrowser('draws no more than the lines in sight of a long text', async () => {
    const long = Array.from({ length: 2000 }, (_, index) => `Line ${index} says {{first}} here`).join('\n');
    expect(long.length).toBeGreaterThan(64 * 1024 - 10_000);
    const page = await edit(ordered(unique('long'), { second: long }));
    const second = await prompt(page, 'second');
    await second.press('Control+End');
    await second.pressSequentially(' {{fi');
    await page.getByRole('option', { name: 'first' }).waitFor();
    await second.press('Enter');
    expect(await second.locator('.cm-line').last().innerText()).toBe('Line 1999 says {{first}} here {{first}}');
    expect(await second.locator('.cm-line').count()).toBeLessThan(200);
  });

  inBrowser('numbers the lines of a definition, and marks where it is no JSON', async () => {
    const page = await edit(ordered(unique('json')));
    await page.getByRole('button', { name: 'JSON' }).click();
    const text = page.getByRole('textbox', { name: 'Definition' });
    await text.fill('{\n  "name": nothing\n}');
    await page.getByRole('button', { name: 'Use this' }).click();
    await page.getByText('This is not JSON').waitFor();
    expect(await page.locator('.code-error').innerText()).toBe('nothing');
    expect(await page.locator('.cm-lineNumbers').innerText()).toMatch(/1\s2\s3/);
    expect(await copied(page.getByRole('button', { name: 'Copy all of it' }))).toBe('{\n  "name": nothing\n}');
  });

  inBrowser('has nothing serious for an accessibility checker with its list open, and fits a phone', async () => {
    const page = await edit(ordered(unique('axe')), { width: 390 });
    const second = await prompt(page, 'second');
    await second.fill('Say {{first}} of ${nodes.absent.text}');
    await page.locator('.code-error').waitFor();
    await second.press('Control+End');
    await second.pressSequentially(' {{');
    const list = page.getByRole('listbox', { name: 'Nodes' });
    await list.waitFor();
    expect(await second.getAttribute('aria-activedescendant')).toBe(
      await page.getByRole('option', { selected: true }).getAttribute('id'),
    );
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    const box = await list.boundingBox();
    expect(box!.x).toBeGreaterThanOrEqual(0);
    expect(box!.x + box!.width).toBeLessThanOrEqual(390);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  inBrowser('loads its editor with the canvas alone, and is a plain field if that cannot be loaded', async () => {
    const workflow = ordered(unique('load'));
    await stage.api.save(workflow);
    const page = await browser.open(`${stage.parley.url}/runs`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.route('**/assets/code-editor-*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'Workflows' }).click();
    await page.getByRole('link', { name: workflow.name }).waitFor();
    expect(asked.filter((path) => path.includes('code-editor'))).toEqual([]);
    await page.getByRole('link', { name: workflow.name }).click();
    await nodeOf(page, 'second').click();
    const field = page.getByLabel('Prompt', { exact: true });
    await field.fill('plain');
    expect(await field.evaluate((it) => it.tagName)).toBe('TEXTAREA');
    expect(asked.filter((path) => path.includes('code-editor'))).not.toEqual([]);
    await page.getByText('Not saved').waitFor();
  });
});
