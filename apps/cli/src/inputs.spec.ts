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

  it('refuses a number that is none, by the name of its member', () => {
    expect(() => readInputs(['n:={"a":[1,1e999]}'])).toThrow('-i n:={"a":[1,1e999]}: a[1] must be a finite number');
    expect(() => readInputs(['n:=1e999'])).toThrow('-i n:=1e999: must be a finite number');
    expect(readInputs(['n:=1e308', 't=1e999'])).toEqual({ n: 1e308, t: '1e999' });
  });
});
