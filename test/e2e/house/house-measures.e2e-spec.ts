import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Place {
  name: string;
  path: string;
  line: number;
}

interface Source {
  path: string;
  text: string;
}

interface Measured {
  value: number;
  places: Place[];
}

const { measureNames, measureDocstrings, measureErrors } = await load<{
  measureNames: (sources: Source[], exceptions?: Record<string, string>) => Record<string, Measured>;
  measureDocstrings: (sources: Source[]) => Record<string, Measured>;
  measureErrors: (sources: Source[]) => Record<string, Measured>;
}>('measures');
const { importGraph, longestChain, singleImporterFiles } = await load<{
  importGraph: (sources: Source[]) => Map<string, Set<string>>;
  longestChain: (graph: Map<string, Set<string>>) => string[];
  singleImporterFiles: (sources: Source[]) => string[];
}>('imports');
const { newPlaces, valuesToRecord } = await load<{
  newPlaces: (now: Place[], before: Place[], changed: string[]) => Place[];
  valuesToRecord: (
    measured: Record<string, { value?: number }>,
    before: Record<string, number>,
    accepted: string[],
  ) => Record<string, number>;
}>('ratchet');
const { longestRelease } = await load<{ longestRelease: (text: string) => number }>('history');
const { isShipped, packageOf } = await load<{
  isShipped: (path: string) => boolean;
  packageOf: (path: string) => string;
}>('sources');

describe('the measures of the house', () => {
  it('counts functions, methods, signatures and arrow functions whose name has one word', () => {
    const text = `
      function take() {}
      const readPart = () => 1;
      const limit = 3;
      class Feed {
        #open() {}
        parse = (text: string) => text;
        readonly size = 1;
        get last() { return 1; }
        constructor() {}
      }
      interface Store { find(id: string): void; findTask(id: string): void; note: string }
    `;
    const { oneWordNames } = measureNames([{ path: 'libs/a/src/a.ts', text }]);
    expect(oneWordNames?.places.map(({ name, line }) => `${line} ${name}`)).toEqual([
      '2 take',
      '6 open',
      '7 parse',
      '12 find',
    ]);
    expect(oneWordNames?.value).toBe(66.7);
  });

  it('finds a type name that two libraries declare, and none that one library declares twice', () => {
    const { sharedTypeNames } = measureNames([
      { path: 'libs/a/src/one.ts', text: 'export class Place {}\ninterface Outcome {}' },
      { path: 'libs/b/src/two.ts', text: '\nexport type Place = string;' },
      { path: 'libs/a/src/three.ts', text: 'enum Outcome { a }' },
    ]);
    expect(sharedTypeNames).toEqual({
      value: 1,
      places: [
        { name: 'Place', path: 'libs/a/src/one.ts', line: 1 },
        { name: 'Place', path: 'libs/b/src/two.ts', line: 2 },
      ],
    });
  });

  it('finds function names in more than five files, unless they are exceptions', () => {
    const declaring = (count: number, name: string): Source[] =>
      Array.from({ length: count }, (_, file) => ({
        path: `libs/a/src/${name}-${file}.ts`,
        text: `function ${name}() {}`,
      }));
    const sources = [...declaring(5, 'few'), ...declaring(6, 'many'), ...declaring(6, 'get')];
    const { widespreadNames } = measureNames(sources, { get: 'word of collections' });
    expect(widespreadNames?.value).toBe(1);
    expect(new Set(widespreadNames?.places.map(({ name }) => name))).toEqual(new Set(['many']));
  });

  it('finds docstrings that begin with a clause or a pronoun', () => {
    const text = [
      '/** Of the newest batch. */',
      '/** Offers a Task. */',
      '/**',
      ' * The same, where the claim',
      ' * is held. */',
      '// What a remark says.',
      '/** Whether it is over. */ /** True if it is over. */',
    ].join('\n');
    const { clauseDocstrings } = measureDocstrings([{ path: 'src/a.ts', text }]);
    expect(clauseDocstrings?.value).toBe(60);
    expect(clauseDocstrings?.places.map(({ line, name }) => `${line} ${name}`)).toEqual([
      '1 Of the newest batch.',
      '3 The same, where the claim is held.',
      '7 Whether it is over.',
    ]);
  });

  it('finds classes that extend Error itself', () => {
    const text =
      'export class Own extends Error {}\n\nclass Fault extends ParleyFault {}\n  return class Deep extends Error {';
    expect(measureErrors([{ path: 'src/a.ts', text }]).strayErrors).toEqual({
      value: 2,
      places: [
        { name: 'Own', path: 'src/a.ts', line: 1 },
        { name: 'Deep', path: 'src/a.ts', line: 4 },
      ],
    });
  });

  it('follows imports through an index, which is no link of a chain', () => {
    // In parts: `npm run check` takes it for an import otherwise.
    const library = ['#libs', 'a'].join('/');
    const graph = importGraph([
      { path: 'src/main.ts', text: `import type { A } from '${library}';\nimport { x } from './x.js';` },
      { path: 'src/x.ts', text: "/* import './main.js' */\nimport { readFileSync } from 'node:fs';" },
      { path: 'libs/a/src/index.ts', text: "export {\n  type A,\n} from './one.js';" },
      { path: 'libs/a/src/one.ts', text: "import './deep/two.js';" },
      { path: 'libs/a/src/deep/two.ts', text: "import '../three.js';" },
      { path: 'libs/a/src/three.ts', text: '' },
    ]);
    expect(longestChain(graph)).toEqual([
      'src/main.ts',
      'libs/a/src/one.ts',
      'libs/a/src/deep/two.ts',
      'libs/a/src/three.ts',
    ]);
  });

  it('counts who imports a name of an index as an importer of the source that declares it', () => {
    const library = ['#libs', 'a'].join('/');
    const sources = [
      { path: 'src/one.ts', text: `import { type A, B as C } from '${library}';` },
      { path: 'src/two.ts', text: `import type { A } from '${library}';` },
      { path: 'libs/a/src/index.ts', text: "export { type A } from './a.js';\nexport { B } from './b.js';" },
      { path: 'libs/a/src/a.ts', text: "import { c } from './c.js';" },
      { path: 'libs/a/src/b.ts', text: "import { c } from './c.js';" },
      { path: 'libs/a/src/c.ts', text: '' },
    ];
    expect(singleImporterFiles(sources)).toEqual(['libs/a/src/b.ts']);
  });

  it('names the places that are new in changed files, and none that only moved', () => {
    const place = (path: string, name: string, line = 1): Place => ({ path, name, line });
    const before = [place('a.ts', 'take'), place('gone.ts', 'meet'), place('a.ts', 'rest', 4)];
    const now = [place('a.ts', 'take', 9), place('a.ts', 'take', 12), place('b.ts', 'meet'), place('c.ts', 'look')];
    expect(newPlaces(now, before, ['a.ts', 'b.ts', 'gone.ts'])).toEqual([place('a.ts', 'take', 12)]);
  });

  it('measures the longest release of a changelog, without blank lines', () => {
    expect(longestRelease('# Changelog\n\nAll.\n\n## [Unreleased]\n\n### Fixed\n\n- a\n\n## [1.0.0]\n\n- b\n')).toBe(2);
  });

  it('records what got better, and of what got worse only what is accepted', () => {
    const before = { importChain: 47, shippedLines: 100, changelogLines: 104 };
    const measured = { importChain: { value: 46 }, shippedLines: { value: 120 }, changelogLines: { value: 105 } };
    expect(valuesToRecord(measured, before, [])).toEqual({ importChain: 46 });
    expect(valuesToRecord(measured, before, ['shippedLines'])).toEqual({ importChain: 46, shippedLines: 120 });
    expect(valuesToRecord({ runFiles: {} }, { runFiles: 108 }, ['runFiles'])).toEqual({});
  });

  it('takes shipped sources outside the console, without tests', () => {
    const paths = ['libs/a/src/a.ts', 'src/main.ts', 'apps/cli/src/main.ts'];
    const others = ['libs/a/src/a.spec.ts', 'libs/a/src/testing/a.ts', 'apps/console/src/a.ts', 'test/a.ts'];
    expect([...paths, ...others].filter(isShipped)).toEqual(paths);
    expect(paths.map(packageOf)).toEqual(['libs/a', 'src', 'apps/cli']);
  });
});

async function load<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(join(import.meta.dirname, `../../../scripts/house/${name}.mjs`)).href)) as T;
}
