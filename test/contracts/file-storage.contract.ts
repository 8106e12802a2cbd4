import { createHash, randomBytes } from 'node:crypto';
import { ContentTooLong, ContentUnavailable, type FileStorage } from '#libs/files';

const OWNER = { tenant: 'acme', owner: 'ann' };
const MEBIBYTE = 1024 ** 2;
const LIMIT = 32 * MEBIBYTE;

async function* inChunks(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < content.length; offset += size) yield content.subarray(offset, offset + size);
}

async function whole(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What `FileStorage` promises, wherever contents lie. */
export function fileStorageContract(storage: () => FileStorage): void {
  it.each([0, 1, 64 * 1024, 20 * MEBIBYTE])(
    'gives back a content of %i bytes with its size and digest',
    async (size) => {
      const content = randomBytes(size);
      const key = await storage().newKey(OWNER);
      const stored = await storage().put(key, inChunks(content, 100_000), LIMIT);
      expect(stored).toEqual({ size, sha256: createHash('sha256').update(content).digest('hex') });
      expect((await whole(await storage().get(key))).equals(content)).toBe(true);
    },
  );

  it('gives back a range with both ends', async () => {
    const key = await storage().newKey(OWNER);
    await storage().put(key, inChunks(Buffer.from('0123456789'), 4), LIMIT);
    const ranges = [
      [0, 0, '0'],
      [2, 5, '2345'],
      [9, 9, '9'],
      [0, 9, '0123456789'],
    ] as const;
    for (const [first, last, text] of ranges)
      expect((await whole(await storage().get(key, { first, last }))).toString()).toBe(text);
  });

  it('has no content beyond the limit, nor one that breaks off', async () => {
    const [tooLong, broken] = [await storage().newKey(OWNER), await storage().newKey(OWNER)];
    await expect(storage().put(tooLong, inChunks(Buffer.alloc(101), 33), 100)).rejects.toThrow(ContentTooLong);
    const cause = new Error('the client left');
    const breaking = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
      throw cause;
    };
    await expect(storage().put(broken, breaking(), LIMIT)).rejects.toBe(cause);
    for (const key of [tooLong, broken]) await expect(storage().get(key)).rejects.toThrow(ContentUnavailable);
  });

  it('deletes a content, and one that is not there', async () => {
    const key = await storage().newKey(OWNER);
    await storage().put(key, inChunks(Buffer.from('x'), 1), LIMIT);
    expect([await storage().delete(key), await storage().delete(key)]).toEqual([true, true]);
    await expect(storage().get(key)).rejects.toThrow(ContentUnavailable);
  });

  it('deletes nothing of a place that it does not reach, and does not count it as deleted', async () => {
    const key = await storage().newKey(OWNER);
    expect(await storage().delete(key.replace(/^[^/]+/, 'ffffffff'))).toBe(false);
  });

  it('opens nothing by a text that is no key', async () => {
    for (const key of ['', '../../x', '/etc/passwd', `${await storage().newKey(OWNER)}/../x`])
      await expect(storage().get(key)).rejects.toThrow(RangeError);
  });

  it('reads a content while others read it, and one reader leaves', async () => {
    const content = randomBytes(4 * MEBIBYTE);
    const key = await storage().newKey(OWNER);
    await storage().put(key, inChunks(content, 64 * 1024), LIMIT);
    const [leaving, ...staying] = await Promise.all([1, 2, 3].map(() => storage().get(key)));
    for await (const _ of leaving!) break;
    for (const it of staying) expect((await whole(it)).equals(content)).toBe(true);
  });
}
