import { Readable } from 'node:stream';
import { formFiles } from './form-files.js';
import { inChunks, whole } from './testing/chunks.js';

const TYPE = 'multipart/form-data; boundary=b0und';

interface SentPart {
  field?: string;
  name?: string;
  type?: string;
  content?: Buffer | string;
}

/** Part of a form without a name, which the parser skips, with more than 1 MiB of content. */
const SKIPPED = { field: '"; x="', content: Buffer.alloc(1_100_000) };

function form(parts: readonly SentPart[], end = '--b0und--\r\n'): Buffer {
  const pieces = parts.flatMap(({ field = 'file', name, type, content = '' }) => [
    `--b0und\r\nContent-Disposition: form-data; name="${field}"${name === undefined ? '' : `; filename="${name}"`}\r\n`,
    type === undefined ? '' : `Content-Type: ${type}\r\n`,
    '\r\n',
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, end].map((it) => Buffer.from(it)));
}

async function read(body: Readable, type = TYPE): Promise<{ name: string; mediaType: string; content: string }[]> {
  const files = [];
  for await (const { content, ...label } of formFiles(body, type)) {
    files.push({ ...label, content: (await whole(content)).toString('latin1') });
  }
  return files;
}

describe('formFiles', () => {
  it.each([1, 7, 64, 65_536])('gives the files in their order, whole, with chunks of %i bytes', async (size) => {
    const large = Buffer.alloc(200_000, 'x\r\n--b0un');
    const sent = [
      { name: 'a.txt', type: 'text/plain', content: 'one' },
      { name: 'b.bin', type: 'application/octet-stream', content: size === 1 ? 'small' : large },
      { name: 'c.png', type: 'image/png', content: 'c' },
    ];
    const files = await read(inChunks(form(sent), size));
    expect(files.map(({ name, mediaType }) => [name, mediaType])).toEqual(sent.map(({ name, type }) => [name, type]));
    expect(files.map(({ content }) => content.length)).toEqual(sent.map(({ content }) => content.length));
  });

  it('gives names with the quotation marks that browsers encode', async () => {
    expect(await read(inChunks(form([{ name: 'ten %22x%22 100%.txt', content: 'x' }]), 64))).toMatchObject([
      { name: 'ten "x" 100%.txt' },
    ]);
  });

  it('keeps the parameters of a media type, and drops what is none', async () => {
    const sent = ['text/plain; charset=UTF-8', 'application/x; a="b c"; d=e', 'text/csv; charset', undefined];
    const files = await read(inChunks(form(sent.map((type) => ({ content: 'x', ...(type && { type }) }))), 64));
    expect(files.map(({ mediaType }) => mediaType)).toEqual([sent[0], sent[1], 'text/csv', 'text/plain']);
  });

  it('takes a part without a file name for a file too', async () => {
    expect(await read(inChunks(form([{ content: 'x' }]), 64))).toEqual([
      { name: 'file', mediaType: 'text/plain', content: 'x' },
    ]);
  });

  it.each([
    ['without files', form([]), /1 to 20 parts/],
    ['with an empty file', form([{ content: 'x' }, { name: 'x', content: '' }]), /^file\[1\]: must have a content/],
    ['with much before its files', Buffer.concat([Buffer.alloc(1_100_000), form([{ content: 'x' }])]), /1 MiB beside/],
    ['with much behind its files', Buffer.concat([form([{ content: 'x' }]), Buffer.alloc(1_100_000)]), /1 MiB beside/],
    ['with much in a part that is skipped', form([{ content: 'x' }, SKIPPED]), /1 MiB beside/],
    ['with another field', form([{ field: 'title', content: 'x' }]), /^title: is not a field/],
    ['with 21 files', form(Array.from({ length: 21 }, () => ({ name: 'x', content: 'x' }))), /at most 20 files/],
    ['that is cut off in a file', form([{ name: 'x', content: 'x'.repeat(5_000) }], ''), /cut off/],
    ['that is cut off in a header', Buffer.from('--b0und\r\nContent-Disposition: form'), /cut off/],
    ['that is none', Buffer.from('hello'), /cut off|1 to 20 parts/],
  ])('refuses a form %s', async (_what, body, message) => {
    await expect(read(inChunks(body, 512))).rejects.toThrow(message);
  });

  it('refuses a form that names no boundary', async () => {
    await expect(read(inChunks(form([]), 64), 'multipart/form-data')).rejects.toThrow(/Content-Type: .*boundary/);
  });

  it('ends when the client leaves in the middle of a file', async () => {
    const body = new Readable({ read: () => undefined });
    const reading = read(body);
    body.push(form([{ name: 'x', content: 'x'.repeat(5_000) }], '').subarray(0, 3_000));
    body.destroy(new Error('aborted'));
    await expect(reading).rejects.toThrow(/cut off/);
  });

  it('ends when the client left before anybody read', async () => {
    const body = new Readable({ read: () => undefined });
    body.destroy();
    await new Promise((resolve) => body.once('close', resolve));
    await expect(read(body)).rejects.toThrow(/cut off/);
  });

  it('takes no more of a body than its reader does', async () => {
    let sent = 0;
    const [head, chunk] = [form([{ name: 'x' }], '').subarray(0, -2), Buffer.alloc(64 * 1024)];
    const body = new Readable({
      highWaterMark: 64 * 1024,
      read() {
        sent += 1;
        this.push(sent === 1 ? head : chunk);
      },
    });
    for await (const { content } of formFiles(body, TYPE)) {
      await content[Symbol.asyncIterator]().next();
      await new Promise((resolve) => setImmediate(resolve));
      break;
    }
    expect(sent).toBeLessThan(16);
    body.destroy();
  });
});
