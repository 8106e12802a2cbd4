import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandPage } from '../../../scripts/reference-pages.mjs';
import { runCommand } from './parley.js';
import { Terminal } from './terminal.js';

describe('docs/reference/command.md (npm run reference writes it)', () => {
  it('says what the command says of itself', async () => {
    const made = await commandPage(async (...args) => {
      let out = '';
      const stream = { write: (text: string) => (out += text) };
      await runCommand([...args, '--help'], new Terminal({ out: stream, err: stream, input: process.stdin, env: {} }));
      return out;
    });
    expect(readFileSync(join(import.meta.dirname, '../../../docs/reference/command.md'), 'utf8')).toBe(made);
  });
});
