import { RecentPages } from './commit-feed.js';
import type { Commit } from './commit-log.js';

const MEBIBYTE = 1024 * 1024;

function setUp() {
  const clock = { ms: 0 };
  const pages = new RecentPages(() => clock.ms);
  const reads: string[] = [];
  const read = (place: string, commits: Commit[] | Error = [commit(1)]): Promise<Commit[]> =>
    pages.get(place, async () => {
      reads.push(place);
      if (commits instanceof Error) throw commits;
      return commits;
    });
  return { clock, reads, read };
}

function commit(bytes: number): Commit {
  return { writer: 'w', position: 1n, committedAt: new Date(0), bytes, events: [] };
}

describe('RecentPages', () => {
  it('reads a page once for all that ask for it while it is read and shortly after', async () => {
    const { clock, reads, read } = setUp();
    const [first, second] = await Promise.all([read('w,1'), read('w,1')]);
    clock.ms += 4_999;
    expect([second, await read('w,1')]).toEqual([first, first]);
    expect(reads).toEqual(['w,1']);
    clock.ms += 1;
    await read('w,1');
    expect(reads).toEqual(['w,1', 'w,1']);
  });

  it('keeps no page without commits, and none that could not be read', async () => {
    const { reads, read } = setUp();
    await read('w,1', []);
    await read('w,1', []);
    await expect(read('w,2', new Error('no connection'))).rejects.toThrow('no connection');
    await read('w,2');
    expect(reads).toEqual(['w,1', 'w,1', 'w,2', 'w,2']);
  });

  it('keeps a few megabytes of the newest, with the places that they begin at', async () => {
    const { reads, read } = setUp();
    for (const place of ['a', 'b', 'c', 'd', 'e']) await read(place, [commit(MEBIBYTE - 1)]);
    await read('e');
    await read('b');
    expect(reads).toEqual(['a', 'b', 'c', 'd', 'e']);
    await read('a');
    expect(reads.at(-1)).toBe('a');
    await read('huge', [commit(100 * MEBIBYTE)]);
    await read('huge');
    expect(reads.filter((place) => place === 'huge')).toHaveLength(2);
    const long = 'w'.repeat(5 * MEBIBYTE);
    await read(long);
    await read(long);
    expect(reads.filter((place) => place === long)).toHaveLength(2);
  });

  it('keeps a limited number of small pages', async () => {
    const { reads, read } = setUp();
    for (let place = 0; place < 65; place += 1) await read(`${place}`);
    await read('64');
    expect(reads).toHaveLength(65);
    await read('0');
    expect(reads).toHaveLength(66);
  });
});
