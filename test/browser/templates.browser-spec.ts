import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { useStage } from '../support/stage.js';

describe('the templates of workflows', () => {
  const stage = useStage();
  const browser = useBrowser();
  const completed = '[data-status="completed"]';

  inBrowser('lead from the empty state to a finished run in three clicks', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows`, { width: 1440, height: 900 });
    await page.getByRole('heading', { name: 'No workflow yet' }).waitFor();
    await page.locator('[data-template="critic"]').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.locator('[data-template="critic"]').click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page.waitForURL('**/runs/*');
    await page.locator(`header ${completed}`).waitFor();
  });

  inBrowser('are offered in New workflow, each runs, and a second one gets a free name', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows/new`, { width: 390, height: 844 });
    const templates = page.locator('[data-template]');
    await templates.first().waitFor();
    const names = await templates.evaluateAll((all) => all.map((it) => it.getAttribute('data-template')));
    expect(names).toEqual(['approval', 'critic', 'dialogue', 'estimates', 'translations']);
    for (const name of names) {
      await page.goto(`${stage.parley.url}/workflows/new`);
      const template = page.locator(`[data-template="${name}"]`);
      await template.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('button', { name: 'Save and run' }).click();
      await page.waitForURL('**/runs/*');
      await page.locator(`header ${completed}`).waitFor();
    }
    const { body } = await stage.api.call<{ name: string }[]>('GET', '/workflows');
    expect(body.map(({ name }) => name)).toEqual(expect.arrayContaining(['critic', 'critic-2']));
    await page.goto(`${stage.parley.url}/workflows/new`);
    await templates.first().waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
  });

  inBrowser('keep the undo history when they are saved, and an unknown one says so', async () => {
    const page = await browser.open(`${stage.parley.url}/workflows/new/translations`);
    await page.getByLabel('Description').fill('Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL('**/workflows/edit/translations*');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Redo' }).click({ trial: true });
    expect(await page.getByLabel('Description').inputValue()).toMatch(/^A text in many languages/);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goto(`${stage.parley.url}/workflows/new/nothing`);
    await page.getByRole('alert').getByText('There is no template "nothing".').waitFor();
  });
});
