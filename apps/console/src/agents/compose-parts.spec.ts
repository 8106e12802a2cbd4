import { composeParts } from './compose-parts.js';

const file = (bytes: Uint8Array, name: string, type = '') => new File([new Uint8Array(bytes)], name, { type });

describe('composeParts', () => {
  it('makes a Part of everything that is there', async () => {
    const files = [file(new Uint8Array([1, 2, 255]), 'a.bin'), file(new Uint8Array([65]), 'a.txt', 'text/plain')];
    expect(await composeParts({ text: 'Hi', data: '{"a":[1]}', files })).toEqual([
      { text: 'Hi', mediaType: 'text/plain' },
      { data: { a: [1] }, mediaType: 'application/json' },
      { raw: 'AQL/', mediaType: 'application/octet-stream', filename: 'a.bin' },
      { raw: 'QQ==', mediaType: 'text/plain', filename: 'a.txt' },
    ]);
  });

  it('takes a file that is larger than a call has arguments', async () => {
    const [part] = await composeParts({ text: ' ', data: '', files: [file(new Uint8Array(300_000).fill(7), 'a')] });
    expect(atob(part?.raw ?? '')).toBe('\u0007'.repeat(300_000));
  });

  it('uploads files that are too large for a Message, and names them by their URLs', async () => {
    const files = [file(new Uint8Array(2 * 1024 ** 2), 'a', 'image/png'), file(new Uint8Array(1024 ** 2), 'b')];
    const upload = async (sent: readonly File[]) =>
      sent.map(({ name, type: mediaType, size }) => {
        return { id: name, name, mediaType, size, sha256: '', createdAt: '', url: `/f/${name}` };
      });
    expect(await composeParts({ text: 'Hi', data: '', files }, upload)).toEqual([
      { text: 'Hi', mediaType: 'text/plain' },
      { url: '/f/a', mediaType: 'image/png', filename: 'a' },
      { url: '/f/b', mediaType: '', filename: 'b' },
    ]);
  });

  it('refuses data that is no JSON', async () => {
    await expect(composeParts({ text: '', data: '{', files: [] })).rejects.toThrow(SyntaxError);
  });
});
