import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freshDatabase } from '../../support/postgres.js';
import { Reader, runnableBlocks, showsAll } from '../../support/runnable-page.js';
import { useSharedStage } from '../../support/shared-stage.js';

const ROOT = resolve(import.meta.dirname, '../../..');
// The names that pages use would be in the way of other files.
const stage = useSharedStage({ env: { SERVICE_NAME: 'parley-of-the-pages' } });

const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()].filter(
  (page) => runnableBlocks(readFileSync(join(ROOT, page), 'utf8')).length > 0,
);

describe('A reader who runs what pages show', () => {
  it('finds pages to follow', () => expect(pages.length).toBeGreaterThan(5));

  it('may leave every terminal open: no two agents of the pages have one port, or that of the demo', () => {
    const taken = new Map([
      ['4001', 'the demo'],
      ['4002', 'the demo'],
    ]);
    const twice: string[] = [];
    for (const page of ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })]) {
      const text = readFileSync(join(ROOT, page), 'utf8');
      for (const [, port = ''] of text.matchAll(/^(?:npm run agent -- |parley agent ).*--port (\d+)/gm)) {
        const other = taken.get(port);
        if (other !== undefined) twice.push(`${port} in ${page} and ${other}`);
        taken.set(port, page);
      }
    }
    expect(taken.size).toBeGreaterThan(5);
    expect(twice).toEqual([]);
  });

  it('sees how to define the command on every first page before a block uses it', () => {
    const isCalled = (text: string): boolean => /^(?:\w+=\$\()?(?:until )?parley /m.test(text);
    const DEFINED = "```sh\nalias parley='npm run --silent parley --'\n```\n";
    const faults = pages
      .filter((page) => /^docs\/(?:start\/|REGISTERED)/.test(page))
      .filter((page) => {
        const text = readFileSync(join(ROOT, page), 'utf8');
        const first = runnableBlocks(text).find((block) => isCalled(block.text));
        return first !== undefined && !text.split('\n').slice(0, first.line).join('\n').includes(DEFINED);
      });
    expect(faults).toEqual([]);
  });

  it.each(pages)('sees what %s says', async (page) => {
    const reader = new Reader(stage.parley.url, async () => {
      const database = await freshDatabase();
      stage.defer(() => database.drop());
      return database.url;
    });
    try {
      for (const { block, out } of await reader.follow(page)) {
        if (!showsAll(out, block.shows))
          throw new Error(`The block at ${page}:${block.line} shows\n${block.shows.join('\n')}\nand printed\n${out}`);
      }
    } finally {
      reader.end();
      const { body } = await stage.api.call('GET', '/workflows');
      for (const { name } of body as unknown as { name: string }[])
        await stage.api.call('DELETE', `/workflows/${name}`);
      const schedules = await stage.api.call<{ schedules: { name: string }[] }>('GET', '/schedules');
      for (const { name } of schedules.body.schedules) await stage.api.call('DELETE', `/schedules/${name}`);
      const registered = await stage.api.call<{ agents: { name: string }[] }>('GET', '/agents');
      for (const { name } of registered.body.agents) await stage.api.call('DELETE', `/agents/${name}`);
    }
  });
});
