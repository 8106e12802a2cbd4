import { type Draft, placeNew } from './draft.js';
import { draftChanges, lostCredentials } from './draft-changes.js';

const DRAFT: Draft = {
  name: 'w',
  description: 'Says it.',
  onFailure: 'cancel',
  nodes: [
    { id: 'in', type: 'input', config: {}, position: { x: 0, y: 0 } },
    { id: 'say', type: 'agent', config: { prompt: '{{in}}', tools: ['calculator'] }, position: { x: 280, y: 0 } },
    { id: 'out', type: 'output', config: {}, position: { x: 560, y: 0 } },
  ],
  edges: [
    { from: 'in', to: 'say' },
    { from: 'say', to: 'out' },
  ],
};

describe('the changes of a draft', () => {
  it('are none where only places and the order of members differ', () => {
    const [first, say, out] = DRAFT.nodes as [Draft['nodes'][0], Draft['nodes'][0], Draft['nodes'][0]];
    const turned = { config: { tools: ['calculator'], prompt: '{{in}}' }, type: say.type, id: say.id };
    expect(draftChanges(DRAFT, { ...DRAFT, nodes: [out, turned, { ...first, position: { x: 9, y: 9 } }] })).toEqual([]);
  });

  it('name every node, edge and member that was added, changed or removed', () => {
    const [first, say] = DRAFT.nodes as [Draft['nodes'][0], Draft['nodes'][0]];
    const after: Draft = {
      ...DRAFT,
      description: 'Asks first.',
      deadline: '2h',
      nodes: [first, { ...say, config: { prompt: 'Loudly: {{in}}' } }, { id: 'ask', type: 'human', config: {} }],
      edges: [
        { from: 'in', to: 'say', when: 'true == true' },
        { from: 'say', to: 'ask' },
      ],
    };
    expect(draftChanges(DRAFT, after)).toEqual([
      { kind: 'changed', what: 'node say' },
      { kind: 'added', what: 'node ask' },
      { kind: 'removed', what: 'node out' },
      { kind: 'changed', what: 'edge in → say' },
      { kind: 'added', what: 'edge say → ask' },
      { kind: 'removed', what: 'edge say → out' },
      { kind: 'changed', what: 'description' },
      { kind: 'added', what: 'deadline' },
    ]);
  });

  it('have beside them the credentials that they took, and no other problem', () => {
    const detail = 'external node "ext": the credential is left out';
    const lost = { path: 'nodes[0].config.auth', severity: 'warning', code: 'CREDENTIAL_LEFT_OUT', detail } as const;
    const other = { path: 'nodes[0]', severity: 'warning', code: 'UNCONNECTED', detail: 'no edge' } as const;
    expect(lostCredentials([other, lost])).toEqual([detail]);
  });

  it('leave the places of other nodes alone: a new node stands right of the one that leads to it', () => {
    const added = {
      ...DRAFT,
      nodes: [...DRAFT.nodes, { id: 'ask', type: 'human', config: {} }],
      edges: [...DRAFT.edges, { from: 'say', to: 'ask' }],
    };
    const { nodes } = placeNew(added);
    expect(nodes.slice(0, 3)).toEqual(DRAFT.nodes);
    expect(nodes[3]?.position).toEqual({ x: 560, y: 100 });
  });
});
