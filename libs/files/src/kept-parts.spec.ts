import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { KEPT_FILE, type Part } from '#libs/protocol';
import { ContentRooms, InFlight, Metrics } from '#libs/service';
import { FileAddresses } from './file-addresses.js';
import type { ArrivingFile } from './file-contents.js';
import { quotaExceeded, storageUnavailable, unknownFile } from './file-errors.js';
import type { FileTerms } from './file-store.js';
import { OwnFileUrls } from './own-file-urls.js';
import { KeptParts, OwnFiles } from './part-files.js';
import { type FileOwner, newFileId, type StoredFile } from './stored-file.js';

Logger.overrideLogger(false);

const BASE = 'https://parley.example.com';
const [ann, eve] = ['ann', 'eve'].map((owner) => ({ tenant: 'acme', owner })) as [FileOwner, FileOwner];
const { signal } = new AbortController();

/** Fake of the stores of files: keeps the rows and contents of files in memory. */
class MemoryFiles {
  readonly files = new Map<string, StoredFile & { bytes: Buffer }>();
  readonly terms: (FileTerms | undefined)[] = [];
  failure: Error | undefined;
  /** Promise that the storage awaits before it stores; absent: it stores at once. */
  hold: Promise<void> | undefined;

  get = async ({ tenant, owner }: FileOwner, id: string): Promise<StoredFile | undefined> => {
    const file = this.files.get(id);
    return file?.tenant === tenant && file.owner === owner ? file : undefined;
  };

  queries = 0;

  findAmong = async (owner: FileOwner, ids: readonly string[]): Promise<Map<string, StoredFile>> => {
    this.queries += 1;
    const files = await Promise.all(ids.map((id) => this.get(owner, id)));
    return new Map(files.flatMap((file) => (file ? [[file.id, file]] : [])));
  };

  storeFiles = async (
    owner: FileOwner,
    files: AsyncIterable<ArrivingFile>,
    _announced: number,
    terms?: FileTerms,
  ): Promise<StoredFile[]> => {
    await this.hold;
    if (this.failure) throw this.failure;
    this.terms.push(terms);
    const stored: StoredFile[] = [];
    for await (const { content, ...label } of files) {
      const bytes = Buffer.concat(await Readable.from(content).toArray());
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const file = { ...owner, ...label, id: newFileId(new Date()), size: bytes.length, sha256, createdAt: new Date() };
      this.files.set(file.id, { ...file, bytes });
      stored.push(file);
    }
    return stored;
  };

  opened = 0;
  /** Number of opens that fail before one succeeds. */
  outage = 0;

  openContent = async ({ id }: StoredFile): Promise<Readable> => {
    this.opened += 1;
    if (this.failure) throw this.failure;
    if (this.opened <= this.outage) throw storageUnavailable('away');
    return Readable.from([this.files.get(id)!.bytes]);
  };
}

const LIMITS = { memory: { inFlightBytes: 4 * 1024 ** 2, callerInFlightBytes: 2 * 1024 ** 2 } };
let memory: MemoryFiles;
let inFlight: InFlight;
let addresses: FileAddresses;

beforeAll(async () => {
  const pool = { query: async () => ({ rows: [{ value: Buffer.alloc(32, 1) }] }) };
  addresses = await FileAddresses.openAddresses({ pool } as never);
});

function keeper(offload: number | 'off' = 1_000, artifact = 100_000, reached: string | undefined = BASE): KeptParts {
  const service = { ownUrls: [BASE], isOwnAddress: () => false, publicBaseUrl: () => BASE } as never;
  const urls = new OwnFileUrls(service, { publicUrl: BASE, allowedHosts: [] } as never);
  const own = new OwnFiles(memory as never, memory as never, addresses, service, urls);
  const config = {
    publicUrl: reached || undefined,
    host: '0.0.0.0',
    files: { offloadBytes: offload === 'off' ? undefined : offload },
    content: { artifact },
  } as never;
  const rooms = new ContentRooms(LIMITS as never, inFlight);
  return new KeptParts(memory as never, memory as never, own, service, config, rooms, new Metrics());
}

const rawOf = (length: number, filename = 'a.bin'): Part => ({
  raw: Buffer.alloc(length, 7).toString('base64'),
  mediaType: 'image/png',
  filename,
});

beforeEach(() => {
  memory = new MemoryFiles();
  inFlight = new InFlight(LIMITS as never, new Metrics());
});

describe('large Parts', () => {
  it('are kept as files from the limit on, and come back to the letter', async () => {
    const parts: Part[] = [{ text: 'x' }, { ...rawOf(1_000), metadata: { a: 1 } }, rawOf(999), rawOf(5_000, '')];
    const [text, large, small, unnamed] = await keeper().keepParts(parts, ann, signal);
    expect([text, small]).toEqual([parts[0], parts[2]]);
    const id = expect.stringMatching(/^[\da-f-]{36}$/);
    expect(large).toEqual({
      url: expect.stringMatching(`^${BASE}/api/files/[\\da-f-]{36}$`),
      mediaType: 'image/png',
      filename: 'a.bin',
      metadata: { a: 1, [KEPT_FILE]: { id, size: 1_000, sha256: expect.stringMatching(/^[\da-f]{64}$/) } },
    });
    expect([...memory.files.values()].map(({ name }) => name)).toEqual(['a.bin', 'file']);
    expect(memory.terms).toEqual([{ keptMs: 24 * 3_600_000, heldMs: 900_000 }]);
    expect(await keeper('off').restorer(ann, signal).restoreParts([text!, large!, small!, unnamed!])).toEqual(parts);
  });

  it('stay as they are where nothing is said, where no caller could open their URLs, and where their base64 would not come back', async () => {
    const unpadded = { raw: rawOf(1_000).raw!.replace(/=+$/, '') };
    expect(keeper('off').concernsParts([rawOf(5_000)])).toBe(false);
    expect(keeper(1_000, 1, '').concernsParts([rawOf(5_000)])).toBe(false);
    expect(await keeper().keepParts([unpadded], ann)).toEqual([unpadded]);
    expect(memory.files.size).toBe(0);
  });

  it.each([
    ['FILES_QUOTA is reached', quotaExceeded(1)],
    ['the storage is out of reach', storageUnavailable('away')],
    ['the database fails', new Error('away')],
  ])('stay as they are where %s', async (_what, failure) => {
    memory.failure = failure;
    expect(await keeper().keepParts([rawOf(1_000)], ann)).toEqual([rawOf(1_000)]);
  });

  it('are tried again at once after a full quota, and not after a storage that has failed', async () => {
    const kept = keeper();
    memory.failure = quotaExceeded(1);
    await kept.keepParts([rawOf(1_000)], ann);
    memory.failure = undefined;
    expect((await kept.keepParts([rawOf(1_000)], eve))[0]).toHaveProperty('url');
    memory.failure = storageUnavailable('away');
    await kept.keepParts([rawOf(1_000)], ann);
    memory.failure = undefined;
    expect(await kept.keepParts([rawOf(1_000)], ann)).toEqual([rawOf(1_000)]);
  });

  it('stay as they are where nobody waits any more for a slow storage', async () => {
    memory.hold = new Promise(() => undefined);
    const leaving = new AbortController();
    const kept = keeper().keepParts([rawOf(1_000)], ann, leaving.signal);
    leaving.abort();
    expect(await kept).toEqual([rawOf(1_000)]);
  });
});

describe('what a Part says of itself', () => {
  async function keptPart(): Promise<Part> {
    const [part] = await keeper().keepParts([rawOf(1_000)], ann);
    return part!;
  }

  it('stays where it is true, and is dropped where it is not', async () => {
    const part = await keptPart();
    const said = part.metadata![KEPT_FILE] as object;
    const { url } = part;
    const wrong: [Part, FileOwner][] = [
      [part, eve],
      [{ ...part, url: 'https://elsewhere.example/x' }, ann],
      [{ ...part, url: url!.replace(BASE, 'https://elsewhere.example') }, ann],
      [{ ...part, metadata: { [KEPT_FILE]: { ...said, size: 5 } } }, ann],
      [{ ...part, metadata: { [KEPT_FILE]: 'x' } }, ann],
      [{ text: 'x', metadata: part.metadata! }, ann],
    ];
    expect(await keeper().keepParts([part], ann)).toEqual([part]);
    for (const [claim, owner] of wrong) {
      const { metadata: _metadata, ...bare } = claim;
      expect(keeper().concernsParts([claim])).toBe(true);
      expect(await keeper().keepParts([claim], owner)).toEqual([bare]);
    }
  });

  it('costs one query, however many Parts say so', async () => {
    const part = await keptPart();
    memory.queries = 0;
    expect(await keeper().keepParts(Array<Part>(500).fill(part), ann)).toEqual(Array<Part>(500).fill(part));
    expect(memory.queries).toBe(1);
  });

  it('gives no bytes of other files, nor of other owners', async () => {
    const part = await keptPart();
    const [other] = await keeper().keepParts([rawOf(2_000)], eve);
    const claims = [{ ...part, url: other!.url! }, other!, { ...part, metadata: other!.metadata! }];
    const bare = claims.map(({ metadata: _metadata, ...rest }) => rest);
    expect(await keeper().restorer(ann, signal).restoreParts(claims)).toEqual(bare);
  });

  it('is read again where the storage does not answer at first', async () => {
    const part = await keptPart();
    memory.outage = 1;
    expect(await keeper().restorer(ann, signal).restoreParts([part])).toEqual([rawOf(1_000)]);
    expect(memory.opened).toBe(2);
  });

  it('is read at an address that the service had once, and up to ARTIFACT_LIMIT', async () => {
    const part = await keptPart();
    const moved = { ...part, url: part.url!.replace(BASE, 'http://old.example') };
    expect(await keeper(1_000, 2_000).restorer(ann, signal).restoreParts([moved, part])).toEqual([rawOf(1_000), part]);
  });
});

const MEBIBYTE = 1024 ** 2;

/** Stores a Part as a file, and returns the Part that refers to the file. The base64 of its bytes has one mebibyte. */
async function keptPart(): Promise<Part> {
  const [part] = await keeper().keepParts([rawOf((MEBIBYTE / 4) * 3)], ann);
  return part!;
}

describe('large Parts that are restored to be recorded', () => {
  it('count in flight, all that one restorer has read, until it is disposed of', async () => {
    const part = await keptPart();
    using restorer = keeper(1_000, MEBIBYTE).restorer(ann, signal);
    expect(await restorer.restoreParts([part, { text: 'x' }])).toEqual([rawOf((MEBIBYTE / 4) * 3), { text: 'x' }]);
    expect(inFlight.total).toBe(MEBIBYTE);
    await restorer.restoreParts([part]);
    expect(inFlight.total).toBe(2 * MEBIBYTE);
    restorer[Symbol.dispose]();
    expect(inFlight.total).toBe(0);
  });

  it('wait unread until there is room, but take none from work that lasts', async () => {
    const part = await keptPart();
    const kept = keeper(1_000, MEBIBYTE);
    using working = await kept.holdParts([part], ann, signal);
    using first = kept.restorer(ann, signal);
    using second = kept.restorer(ann, signal);
    await Promise.all([first.restoreParts([part]), second.restoreParts([part])]);
    using third = kept.restorer(ann, signal);
    const waiting = third.restoreParts([part]);
    await new Promise(setImmediate);
    expect([memory.opened, inFlight.total]).toEqual([3, 3 * MEBIBYTE]);
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    expect(await waiting).toEqual([rawOf((MEBIBYTE / 4) * 3)]);
    expect(inFlight.total).toBe(2 * MEBIBYTE);
    expect(working.parts).toHaveLength(1);
  });
});

describe('a signed address that an agent sends back', () => {
  const opened = async (owner = ann, ms = 60_000): Promise<{ part: Part; echo: Part }> => {
    const [part] = await keeper().keepParts([rawOf(1_000)], owner);
    const file = { id: part!.url!.split('/').at(-1)! };
    return { part: part!, echo: { ...part!, url: addresses.signAddress(file, BASE, new Date(Date.now() + ms)) } };
  };

  it.each([
    ['that is open', 60_000],
    ['whose time is over', -60_000],
  ])('becomes the URL of the file: one %s', async (_what, ms) => {
    const { part, echo } = await opened(ann, ms);
    const { metadata: _metadata, ...bare } = echo;
    const kept = keeper('off');
    expect(kept.concernsParts([bare])).toBe(true);
    const { metadata: _said, ...url } = part;
    expect(await kept.keepParts([echo, { text: 'x' }, bare], ann)).toEqual([part, { text: 'x' }, url]);
    expect(await kept.restorer(ann, signal).restoreParts([bare, echo])).toEqual([url, rawOf(1_000)]);
  });

  it('stays as it is where the file is of another owner, the signature of another file, or the host of another service', async () => {
    const [{ echo }, foreign] = [await opened(), await opened(eve)];
    const bare = ({ metadata: _metadata, ...part }: Part): Part => part;
    const altered = [
      bare(foreign.echo),
      { url: echo.url!.replace(/files\/[^?]+/, `files/${newFileId(new Date())}`) },
      { url: echo.url!.replace(BASE, 'https://elsewhere.example') },
      { url: `${echo.url!}&x=1` },
    ];
    expect(await keeper().keepParts(altered, ann)).toEqual(altered);
    expect(keeper().concernsParts(altered.slice(1))).toBe(false);
  });
});

describe('large Parts that work holds', () => {
  it('count in flight from before they are read until they are disposed of', async () => {
    const part = await keptPart();
    const held = await keeper(1_000, MEBIBYTE).holdParts([part, { text: 'x' }, part], ann, signal);
    expect(held.parts).toEqual([rawOf((MEBIBYTE / 4) * 3), { text: 'x' }, part]);
    expect(inFlight.total).toBe(MEBIBYTE);
    held[Symbol.dispose]();
    expect(inFlight.total).toBe(0);
  });

  it('wait unread until there is room, and count nothing where the wait or the storage ends them', async () => {
    const part = await keptPart();
    const kept = keeper(1_000, MEBIBYTE);
    const held = [await kept.holdParts([part], ann, signal), await kept.holdParts([part], ann, signal)];
    const leaving = new AbortController();
    const waiting = kept.holdParts([part], ann, leaving.signal);
    await new Promise(setImmediate);
    expect([memory.opened, inFlight.total]).toEqual([2, 2 * MEBIBYTE]);
    leaving.abort(new Error('canceled'));
    await expect(waiting).rejects.toThrow('canceled');
    held[0]![Symbol.dispose]();
    memory.failure = unknownFile();
    await expect(kept.holdParts([part], ann, signal)).rejects.toThrow('file not found');
    expect([memory.opened, inFlight.total]).toEqual([3, MEBIBYTE]);
    held[1]![Symbol.dispose]();
    expect(inFlight.total).toBe(0);
  });
});
