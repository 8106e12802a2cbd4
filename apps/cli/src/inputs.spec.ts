import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readInputs } from './inputs.js';

describe('readInputs', () => {
  let folder: string;

  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-inputs-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('reads the text of a file as it is written, and no other for it', () => {
    const file = join(folder, 'name.txt');
    writeFileSync(file, 'José');
    expect(readInputs([`name=@${file}`])).toEqual({ name: 'José' });
    writeFileSync(file, 'José', 'latin1');
    expect(() => readInputs([`name=@${file}`])).toThrow(`${file} is not UTF-8`);
  });
});
