import { keepReferences } from './saved-workflows.js';

const written = { name: 'w', nodes: [{ id: 'a', config: { model: '${env:MODEL}', prompt: 'Hi from ${env:TEAM}' } }] };
const filled = { name: 'w', nodes: [{ id: 'a', config: { model: 'small', prompt: 'Hi from tea' } }] };

describe('keepReferences', () => {
  it('keeps names of variables whose values the service has, wherever their nodes are now', () => {
    const saved = { ...filled, nodes: [{ id: 'new', config: { model: 'small' } }, ...filled.nodes], edges: [] };
    expect(keepReferences(saved, written, filled)).toEqual({
      definition: { ...written, nodes: [{ id: 'new', config: { model: 'small' } }, ...written.nodes], edges: [] },
      replaced: [],
    });
  });

  it('takes what the service has otherwise, and says where that replaces a name', () => {
    const saved = { name: 'w', nodes: [{ id: 'a', config: { model: 'large', prompt: 'Hi from tea', more: 1 } }] };
    expect(keepReferences(saved, written, filled)).toEqual({
      definition: {
        name: 'w',
        nodes: [{ id: 'a', config: { model: 'large', prompt: 'Hi from ${env:TEAM}', more: 1 } }],
      },
      replaced: ['nodes[0].config.model'],
    });
  });

  it('keeps nothing of what is of another kind now', () => {
    const saved = { name: 'w', nodes: [{ id: 'a', config: { model: { name: 'small' } } }] };
    expect(keepReferences(saved, written, filled)).toEqual({ definition: saved, replaced: ['nodes[0].config.model'] });
  });
});
