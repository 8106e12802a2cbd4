import { inBrowser, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, unique } from '../support/workflow.js';

describe('schedules in the console', () => {
  const stage = useSharedStage();
  const browser = useBrowser();

  inBrowser('are added with a preview of their times, run, paused, changed and deleted', async () => {
    const { name: workflow } = await stage.api.save(linear(unique('report'), input('topic'), output('out')));
    const name = unique('morning');
    const page = await browser.open(`${stage.parley.url}/schedules`);
    await page.getByRole('link', { name: 'Add a schedule' }).click();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Workflow').selectOption(workflow);
    await page.getByLabel('topic').fill('the weather');
    await page.getByLabel('Cron expression').fill('30 7 * *');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('alert').filter({ hasText: 'cron' }).first().waitFor();
    await page.getByLabel('Cron expression').fill('30 7 1 1 *');
    await page.getByRole('button', { name: 'Show the next times' }).click();
    const times = page.getByRole('list', { name: 'Next times' }).getByRole('listitem');
    await times.filter({ hasText: '-01-01T06:30:00Z' }).nth(9).waitFor();
    await page.getByRole('button', { name: 'Add' }).click();

    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByText('30 7 1 1 * (Europe/Berlin)').waitFor();
    await times.nth(9).waitFor();
    await page.getByText('The schedule has not fired yet.').waitFor();
    expect(await seriousFaultsInEitherTheme(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(/\/runs\//);
    await page.goBack();
    await page.getByRole('table', { name: 'History' }).getByRole('link', { name: 'Completed' }).waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The schedule is paused.').waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    expect(await page.getByLabel('topic').inputValue()).toBe('the weather');
    await page.getByLabel('When').selectOption('every');
    await page.getByLabel('Interval').fill('12h');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('every 12h').waitFor();
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('table', { name: 'Schedules' }).getByRole('row', { name }).getByText('every 12h').waitFor();

    await page.getByRole('link', { name, exact: true }).click();
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/schedules\/?$/);
    expect((await stage.api.call('GET', `/schedules/${name}`)).status).toBe(404);
  });
});
