import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { OutboundFetch } from '#libs/http-client';
import type { Part } from '#libs/protocol';
import { ContentRoom, InFlight, Metrics } from '#libs/service';
import { filesFor, type FileSources } from './model-files.js';
import { promptOf } from './prompt.js';

const MEGABYTE = 1024 ** 2;
const model = { supportedUrls: {} } as unknown as LanguageModelV4;
const { signal } = new AbortController();
const ELSEWHERE = 'http://files.test/';

/** Fakes of a file server and of the file storage, which record their reads. */
class Files {
  readonly fetched: string[] = [];
  readonly read: string[] = [];
  /** Number of files that are being read now, and the maximum of that number. */
  atWork = 0;
  most = 0;

  constructor(private readonly bytes: number) {}

  readonly send: OutboundFetch = async (url) => {
    this.fetched.push(String(url));
    return new Response(await this.content());
  };

  readonly readOwn: FileSources['readOwn'] = async (url, admit) => {
    if (url.startsWith(ELSEWHERE)) return undefined;
    await admit(this.bytes);
    this.read.push(url);
    return this.content();
  };

  private async content(): Promise<Buffer<ArrayBuffer>> {
    this.atWork += 1;
    this.most = Math.max(this.most, this.atWork);
    await new Promise(setImmediate);
    this.atWork -= 1;
    return Buffer.alloc(this.bytes, 'a');
  }
}

function prompted(urls: readonly string[], sources: Omit<FileSources, 'signal'>): Promise<unknown> {
  const parts: Part[] = urls.map((url) => ({ url, mediaType: 'text/plain' }));
  return promptOf([{ role: 'user', parts }], 'p', filesFor(model, ['text/*'], { ...sources, signal }));
}

const numbered = (count: number, base: string): string[] => Array.from({ length: count }, (_, n) => `${base}${n}`);

describe('files of one call of a model', () => {
  it.each([
    ['of this service', 'own:'],
    ['from elsewhere', ELSEWHERE],
    ['of both kinds in turn', 'both'],
  ])('%s end the call at the limit of their sum, however many Parts name them', async (_what, base) => {
    const files = new Files(300_000);
    const urls = numbered(50, base === 'both' ? '' : base).map((url) =>
      base === 'both' ? `${Number(url) % 2 ? 'own:' : ELSEWHERE}${url}` : url,
    );
    await expect(prompted(urls, { ...files, limit: 2 * MEGABYTE })).rejects.toThrow(
      'the files for a model have more than 2097152 characters of base64 in one call (ARTIFACT_LIMIT)',
    );
    // Five files of 400,000 characters fit into the limit; the read of a sixth, remote one has started.
    expect(files.read.length + files.fetched.length).toBeLessThanOrEqual(6);
    expect(files.most).toBe(1);
  });

  it.each(['own:a', `${ELSEWHERE}a`])(
    'are read once for all Parts with the same URL, which all count (%s)',
    async (url) => {
      const files = new Files(300_000);
      await prompted(Array<string>(5).fill(url), { ...files, limit: 2 * MEGABYTE });
      expect([...files.read, ...files.fetched]).toEqual([url]);
      await expect(prompted(Array<string>(6).fill(url), { ...files, limit: 2 * MEGABYTE })).rejects.toThrow(
        '(ARTIFACT_LIMIT)',
      );
    },
  );

  it.each(['own:', ELSEWHERE])('are at most a hundred (%s)', async (base) => {
    const files = new Files(1);
    await prompted(numbered(100, base), { ...files, limit: MEGABYTE });
    await expect(prompted(numbered(1_000, base), { ...files, limit: MEGABYTE })).rejects.toThrow(
      'a model reads at most 100 files in one call',
    );
    expect(files.read.length + files.fetched.length).toBe(200);
  });

  it('are in one sum of the process before they are read, and wait there for other calls', async () => {
    const memory = { inFlightBytes: 16 * MEGABYTE, callerInFlightBytes: 16 * MEGABYTE };
    const inFlight = new InFlight({ memory } as never, new Metrics());
    const room = new ContentRoom(inFlight, 8 * MEGABYTE);
    const whose = { tenant: '', owner: 'ann' };
    const places = [room.openPlace(whose), room.openPlace(whose), room.openPlace(whose)];
    const files = new Files(1.5 * MEGABYTE);
    const call = (n: number): Promise<unknown> =>
      prompted([`own:${n}`], { ...files, limit: 32 * MEGABYTE, place: places[n] });
    await Promise.all([call(0), call(1)]);
    expect(inFlight.total).toBe(8 * MEGABYTE);
    const third = call(2);
    await new Promise(setImmediate);
    expect(files.read).toEqual(['own:0', 'own:1']);
    places[0]![Symbol.dispose]();
    await third;
    expect(inFlight.total).toBe(8 * MEGABYTE);
    for (const place of places) place[Symbol.dispose]();
    expect(inFlight.total).toBe(0);
  });
});
