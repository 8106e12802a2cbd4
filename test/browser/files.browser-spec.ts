import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { inBrowser, seriousFaults, useBrowser } from '../support/browser.js';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { unique } from '../support/workflow.js';

describe('the files of a caller in the console', () => {
  const stage = useSharedStage(KNOWS_CALLERS);
  const browser = useBrowser();

  /** Opens the page of files with the key of a new caller, who sees none. */
  const openFiles = async (): Promise<Page> => {
    const body = { name: unique('owner'), scopes: ['agents'] };
    const made = await stage.api.call<{ key: string }>('POST', '/keys', body, ANN.headers);
    expect(made.status).toBe(201);
    const page = await browser.open(`${stage.parley.url}/settings/files`);
    await page.getByLabel('API key', { exact: true }).fill(made.body.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'There are no files' }).waitFor();
    return page;
  };

  const upload = async (page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> => {
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload' }).click();
    await (await choosing).setFiles(files);
  };

  inBrowser('are uploaded, saved byte for byte, and deleted; another caller sees none of them', async () => {
    const page = await openFiles();
    const content = randomBytes(3 * 512);
    await upload(page, [
      { name: 'Größe 1.bin', mimeType: 'application/octet-stream', buffer: content },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('short') },
    ]);
    const rowOf = (name: string) => page.getByRole('table', { name: 'Files' }).getByRole('row', { name });
    const cells = async (name: string) => (await rowOf(name).getByRole('cell').allInnerTexts()).slice(0, 3);
    for (const name of ['notes.txt', 'Größe 1.bin']) await rowOf(name).waitFor();
    expect(await cells('notes.txt')).toEqual(['notes.txt', 'text/plain', '5 bytes']);
    expect(await cells('Größe 1.bin')).toEqual(['Größe 1.bin', 'application/octet-stream', '1.5 KiB']);
    expect(await seriousFaults(page)).toEqual([]);
    await openFiles();

    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download Größe 1.bin' }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe('Größe 1.bin');
    expect(readFileSync(await file.path()).equals(content)).toBe(true);

    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void (questions.length === 1 ? dialog.dismiss() : dialog.accept());
    });
    const remove = (name: string) => page.getByRole('button', { name: `Delete ${name}` }).click();
    await remove('notes.txt');
    expect(await rowOf('notes.txt').count()).toBe(1);
    await remove('notes.txt');
    await rowOf('notes.txt').waitFor({ state: 'detached' });
    await rowOf('Größe 1.bin').waitFor();
    await remove('Größe 1.bin');
    await page.getByRole('heading', { name: 'There are no files' }).waitFor();
    expect(questions).toEqual(['Delete notes.txt?', 'Delete notes.txt?', 'Delete Größe 1.bin?']);
  });
});
