import { problemsTogether } from './definition-check.js';
import { TypesWithKeys } from './testing/broken-definitions.js';
import { AllTypes } from './testing/checked-definitions.js';

const runs = (name: string, workflow: string, config: object = {}): object => ({
  name,
  nodes: [{ id: 'child', type: 'workflow', config: { workflow, ...config } }],
});
const leaf = { name: 'leaf', nodes: [{ id: 'topic', type: 'input' }] };

async function found(...sent: unknown[]): Promise<string[][]> {
  const problems = await problemsTogether(sent, new AllTypes());
  return problems.map((of) => of.map(({ severity, code, path }) => `${severity} ${code} ${path}`));
}

describe('problemsTogether', () => {
  it('looks into workflows that are sent together, in any order', async () => {
    expect(await found(runs('a', 'leaf', { inputs: { topic: 'tea' } }), leaf)).toEqual([[], []]);
    expect(await found(runs('a', 'leaf', { inputs: { nope: 'tea', topic: 'x' } }), leaf)).toEqual([
      ['error UNKNOWN_INPUT nodes[0].config.inputs.nope'],
      [],
    ]);
  });

  it('finds that workflows would run each other in a circle', async () => {
    const [a, b, c] = await found(runs('a', 'b'), runs('b', 'c'), runs('c', 'a'));
    expect([a, b, c]).toEqual(Array(3).fill(['error LOOP_DETECTED nodes[0].config.workflow']));
  });

  it('warns of what only a service can know', async () => {
    expect(await found(runs('a', 'elsewhere'), leaf)).toEqual([
      ['warning UNKNOWN_WORKFLOW nodes[0].config.workflow'],
      [],
    ]);
    expect(await found(runs('a', 'leaf', { revision: '3', inputs: { topic: 'x' } }), leaf)).toEqual([
      ['warning UNKNOWN_REVISION nodes[0].config.revision'],
      [],
    ]);
  });

  it('says what is wrong with what is no definition', async () => {
    expect(await found({ name: 'a' }, leaf)).toEqual([['error MALFORMED nodes'], []]);
  });

  it('proposes names for mistyped ones, also beside errors', async () => {
    const typed = {
      name: 'a',
      nodes: [
        { id: 'draft', type: 'agent', config: { promt: 'x' } },
        { id: 'end', type: 'agent', timout: '1m' },
      ],
      edges: [{ from: 'drfat', to: 'end' }],
      onExit: [{ node: 'ned' }],
    };
    const [problems = []] = await problemsTogether([typed], new TypesWithKeys());
    const hintIn = (detail: string): string => / did you mean .*$/.exec(detail)?.[0] ?? '';
    expect(problems.map(({ severity, path, detail }) => `${severity} ${path}${hintIn(detail)}`)).toEqual([
      'error edges[0].from did you mean "draft"?',
      'error onExit[0].node did you mean "end"?',
      'warning nodes[0].config.promt did you mean "prompt"?',
      'warning nodes[1].timout did you mean "timeout"?',
    ]);
    const [malformed = []] = await problemsTogether(
      [{ name: 'a', nodes: [{ id: 'b', tpye: 'agent' }] }],
      new AllTypes(),
    );
    expect(malformed.map(({ path, detail }) => `${path} ${detail}`)).toEqual([
      'nodes[0].type nodes[0].type must be a string',
      'nodes[0].tpye unknown key "tpye": a node has no such member; did you mean "type"?',
    ]);
  });
});
