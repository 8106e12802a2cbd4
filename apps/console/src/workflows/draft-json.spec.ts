import { draftFromText, draftText } from './draft-json.js';

const WHOLE = {
  name: 'whole',
  description: 'Says everything',
  $schema: 'http://127.0.0.1:3000/schemas/workflow.json',
  onFailure: 'continue',
  language: 2,
  deadline: '2h',
  parallel: 20,
  onExit: [{ node: 'b', on: 'failure' }],
  later: { nobody: 'knows' },
  nodes: [
    {
      id: 'a',
      type: 'human',
      config: { form: { type: 'object' } },
      position: { x: 1, y: 2 },
      branch: 'first',
      join: { n: 2, cancelRest: true },
      each: { items: 'inputs.x', minSuccess: '80%' },
      retry: { attempts: 4, on: ['timeout'], jitter: 0.5 },
      timeout: '2m',
      fallback: { parts: [{ data: {} }] },
      output: { schema: {}, parse: true },
      onWait: { deadline: '48h', default: { decision: 'no' } },
      later: 1,
    },
  ],
  edges: [{ from: 'a', to: 'a', loop: { max_iterations: 3, exit_when: 'true', on_max: 'fail' }, later: true }],
};

describe('a draft as JSON', () => {
  it('keeps everything, also what the console does not know', () => {
    expect(JSON.parse(draftText(draftFromText(JSON.stringify(WHOLE))))).toEqual(WHOLE);
  });

  it('leaves out what the service adds to a definition', () => {
    const shown = { ...WHOLE, revision: '7', createdAt: 'then', updatedAt: 'now' };
    expect(JSON.parse(draftText(draftFromText(JSON.stringify(shown))))).toEqual(WHOLE);
  });

  it('has what every draft has', () => {
    expect(draftFromText('{"name": "x", "nodes": [{"id": "a", "type": "agent"}]}')).toEqual({
      name: 'x',
      description: '',
      onFailure: 'cancel',
      nodes: [{ id: 'a', type: 'agent', config: {} }],
      edges: [],
    });
  });

  it.each([
    ['{', 'This is not JSON'],
    ['[]', 'A workflow is an object'],
    ['{"nodes": 1}', 'no list of nodes'],
    ['{"name": 1, "nodes": []}', 'name must be a text'],
    ['{"nodes": [], "edges": {}}', 'edges must be a list'],
    ['{"nodes": [{"id": "a"}]}', 'nodes[0] needs an id and a type'],
    ['{"nodes": [], "edges": [{"from": "a"}]}', 'edges[0] needs a from and a to'],
  ])('refuses %s', (text, sentence) => expect(() => draftFromText(text)).toThrow(sentence));
});
