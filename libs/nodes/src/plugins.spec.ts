import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '#libs/service';
import { Plugins } from './plugins.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-plugins-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Source of a module with the functions of `parley-a2a/plugin`, as another copy of the package would define them. */
const PLUGIN = `const [node, tool, fact] = ['node', 'tool', 'fact'].map((kind) => (it) => ({ ...it, [Symbol.for('parley-a2a/plugin')]: kind }));
const schema = { type: 'object', properties: {} };
const run = () => 1;
`;
let count = 0;

function file(text: string): string {
  const path = join(folder, `p${(count += 1)}.mjs`);
  writeFileSync(path, PLUGIN + text);
  return path;
}

async function problem(...paths: string[]): Promise<string> {
  try {
    await Plugins.loadModules(paths);
  } catch (error) {
    if (error instanceof ConfigError) return error.lines.join('\n').replaceAll(folder, '');
    throw error;
  }
  return 'none';
}

describe('plugins', () => {
  it('are what modules export, alone or in a list', async () => {
    const one = file(`export default tool({ name: 'one', description: 'One', inputSchema: schema, run });`);
    const list = file(`export default [
      node({ type: 'sum', configSchema: schema, recovery: 'restart', run }),
      tool({ name: 'two', description: 'Two', inputSchema: schema, run }),
      fact({ fact: 'key.revoked', handle: run }),
    ];`);
    const plugins = await Plugins.loadModules([one, list]);
    expect(plugins.tools.map(({ module, defined }) => [module, defined.name])).toEqual([
      [one, 'one'],
      [list, 'two'],
    ]);
    expect(plugins.nodes.map(({ defined }) => defined.type)).toEqual(['sum']);
    expect(plugins.handlers.map(({ defined }) => defined.fact)).toEqual(['key.revoked']);
    expect(() => plugins.refuseTools(['three'])).not.toThrow();
    expect(() => plugins.refuseTools(['calculator', 'two'])).toThrow(`${list}: there is a tool "two" already`);
    expect(() => plugins.refuseTypes(['sum'])).toThrow(`${list}: there is a node type "sum" already`);
  });

  it.each([
    ['is not there', undefined, /^PARLEY_PLUGINS: \/gone\.mjs: there is no such file$/],
    ['imports what is not there', `import './none.mjs';`, /^PARLEY_PLUGINS: \/p\d+\.mjs: .*none\.mjs.*\/p\d+\.mjs$/],
    ['throws', `throw new TypeError('defineTool: name is wrong\\nand more');`, /: defineTool: name is wrong$/],
    [
      'exports nothing',
      '',
      /: its default export must be a result of defineNode, defineTool or onFact, or a list of such results$/,
    ],
    ['exports something else', 'export default [3];', /: its default export must be/],
    [
      'has a schema that is none',
      `export default tool({ name: 'x', description: 'X', inputSchema: { type: 'object', properties: { a: { type: 'no' } } }, run });`,
      /: the inputSchema of the tool "x" is not a valid JSON Schema: /,
    ],
    [
      'has a name twice',
      `export default ['sum', 'sum'].map((type) => node({ type, configSchema: schema, recovery: 'fail', run }));`,
      /: there is a node type "sum" already$/,
    ],
  ])('that %s are refused with one sentence that names the module', async (_, text, sentence) => {
    const path = text === undefined ? join(folder, 'gone.mjs') : file(text);
    const said = await problem(path);
    expect(said).toMatch(sentence);
    expect(said.split('\n')).toHaveLength(1);
  });
});
