import { artifactsFile, type FileContent } from './download.js';

const artifact = (...parts: object[]) => ({ artifactId: 'a', parts });
const read = async ({ name, content }: FileContent) => [name, await content.text()];

describe('the file of a result', () => {
  it('is markdown where it is text, also where that came in pieces', async () => {
    const file = artifactsFile('answer', [artifact({ text: '# A' }, { text: 'da' }), artifact({ text: 'and' })]);
    expect(await read(file)).toEqual(['answer.md', '# Ada\n\nand']);
  });

  it('is the data alone, or the file as it was sent', async () => {
    expect(await read(artifactsFile('answer', [artifact({ data: { n: 1 } })]))).toEqual([
      'answer.json',
      '{\n  "n": 1\n}',
    ]);
    const raw = { raw: btoa('bytes'), filename: 'a.bin', mediaType: 'application/x' };
    expect(await read(artifactsFile('answer', [artifact(raw)]))).toEqual(['a.bin', 'bytes']);
  });

  it('is all of it as JSON where it is of several kinds', async () => {
    const mixed = [artifact({ text: 'a' }, { data: 1 })];
    expect(await read(artifactsFile('answer', mixed))).toEqual(['answer.json', JSON.stringify(mixed, undefined, 2)]);
  });
});
