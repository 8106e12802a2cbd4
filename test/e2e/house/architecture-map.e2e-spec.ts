import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8');
const MAP = PAGE.split('\n## The map\n')[1]!.split('\n## ')[0]!;
const [walks, changes] = MAP.split('### Where do I change') as [string, string];

/** The functions that the walks name, as `file:function`. */
const functions = [...walks.matchAll(/^- `([^:`]+):(\w+)`/gm)].map(([, file, name]) => [file!, name!] as const);
const places = [...changes.matchAll(/`((?:libs|src|apps)\/[\w./-]+)`/g)].map(([, path]) => path!);

describe('The map in docs/ARCHITECTURE.md', () => {
  it('has three walks and ten changes', () => {
    expect(walks.match(/^### /gm)).toHaveLength(3);
    expect(changes.match(/^\| (?!what|-)/gm)).toHaveLength(10);
    expect(functions.length).toBeGreaterThan(30);
  });

  it.each(functions)('%s has the function %s', (file, name) => {
    const declared = new RegExp(`^(export |  )?(?:[\\w* ]+ )?\\*?${name}(?:<[^(]*>)?\\(`, 'm');
    expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(declared);
  });

  it.each(places)('%s is there', (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true);
  });
});

describe('The ports in docs/ARCHITECTURE.md', () => {
  const section = PAGE.split('\n### Ports\n')[1]!.split('\n## ')[0]!;
  const rows = [...section.matchAll(/^\| (\S+) +\| `(\w+)` +\| (.+?) +\| (.+?) +\|$/gm)].map((row) => row.slice(1));
  const files = globSync('{libs/*/src,src,apps/agent/src}/**/*.ts', { cwd: ROOT })
    .filter((file) => !/\.spec\.ts$|\/testing\//.test(file))
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
  const rooms = (pattern: string): string[] => {
    const found = files.filter(({ text }) => new RegExp(pattern, 'm').test(text)).map(({ file }) => file);
    return [...new Set(found.map((file) => file.replace(/^libs\//, '').split(/\/?src\//)[0] || 'src'))].sort();
  };

  it('are all abstract classes that a module provides', () => {
    const abstract = files.flatMap(({ text }) => [...text.matchAll(/^export abstract class (\w+) \{/gm)]);
    const provided = abstract.map(([, name]) => name!).filter((name) => rooms(`provide: ${name},`).length > 0);
    expect(provided.length).toBeGreaterThan(20);
    expect(provided.filter((name) => !rows.some(([, port]) => port === name))).toEqual([]);
  });

  it('are declared and implemented where the table says', () => {
    const places = rows.map(([, port]) => [
      ...rooms(`^export abstract class ${port} \\{`),
      port,
      rooms(`class \\w+ extends ${port}\\b|\\): ${port} \\{\\n +return \\{`).join(', '),
    ]);
    const told = rows.map(([library, port, implementers]) => [
      library,
      port,
      implementers!.split(', with ')[0]!.split(', ').sort().join(', '),
    ]);
    expect(places).toEqual(told);
  });
});

describe('The check of diagrams', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diagrams-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function check(...pages: string[]): { status: number | null; output: string } {
    const files = pages.map((text, index) => {
      const file = join(folder, `${index}.md`);
      writeFileSync(file, text);
      return file;
    });
    const script = join(ROOT, 'scripts/diagrams-check.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...files], { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }
  const page = (...lines: string[]): string => ['# Page', '', '```mermaid', ...lines, '```', ''].join('\n');
  const sequence = (...lines: string[]): string => page('sequenceDiagram', ...lines);
  const chart = (...lines: string[]): string => page('flowchart TB', ...lines);

  it('passes the six diagrams of the architecture', () => {
    expect(PAGE.match(/^```mermaid$/gm)).toHaveLength(6);
    expect(check(PAGE)).toEqual({ status: 0, output: '' });
  });

  it('passes classes, methods, functions, files and routes of the project, and words', () => {
    const lines = [
      'a["RequestHandler<br/>getTask(), cancelTask()<br/>libs/a2a-server"]',
      'b["/api/conversations"]',
      'c["/a2a/workflows/{workflow}"]',
      'd["some words, and PostgreSQL in them"]',
      'a -->|asks| b',
      'c -.-> d',
    ];
    const calls = ['participant P as nextStep', 'participant H as RequestHandler', 'P->>H: getTask() of a Task'];
    expect(check(chart(...lines), sequence(...calls))).toEqual({ status: 0, output: '' });
  });

  it.each([
    ['a class', chart('a["RequestHandlers"]'), 'there is no RequestHandlers'],
    ['a participant', sequence('participant WorkflowWalk'), 'there is no WorkflowWalk'],
    ['a method', chart('a["RequestHandler<br/>getTask(), sendTask()"]'), 'RequestHandler has no sendTask()'],
    [
      'a method that is called',
      sequence('participant A as TaskStore', 'participant B as RequestHandler', 'A->>B: claim() it'),
      'RequestHandler has no claim()',
    ],
    ['a file', chart('a["libs/a2a-servers"]'), 'there is no file libs/a2a-servers'],
    ['a route', chart('a["/api/conversation"]'), 'there is no route /api/conversation'],
    ['a line', sequence('participant A', 'A -> nobody'), '"A -> nobody" is no line of such a diagram'],
    ['a sign', sequence('participant A', 'A->>A: one; two'), 'has a sign that breaks Mermaid'],
    ['a participant that nobody declared', sequence('participant A', 'A->>B: hello'), 'B is not declared'],
    ['a block without an end', sequence('participant A', 'loop twice', 'A->>A: hello'), 'a block is not closed'],
    ['an end without a block', chart('a["one"]', 'end'), '"end" is no line of such a diagram'],
    ['another diagram', page('pie', '"a" : 1'), '"pie" begins no diagram that is known here'],
  ])('fails for %s that is wrong, with the line where the diagram begins', (_what, text, breach) => {
    const { status, output } = check(text);
    expect(output).toContain(breach);
    expect(output).toMatch(/0\.md:3: /);
    expect(status).toBe(1);
  });
});
