import type { JsonObject, JsonValue } from '#libs/protocol';
import { CurrentDefinition } from './current-definition.js';

const URL = 'https://agent.example.com/a2a';

/** Returns the config of the only node after a model has answered with another config. */
function configAfter(type: string, config: JsonObject, answered: JsonObject): unknown {
  const current = new CurrentDefinition({ name: 'w', nodes: [{ id: 'a', type, config }] });
  const { nodes } = current.apply({ name: 'w', nodes: [{ id: 'a', type, config: answered }] });
  return (nodes as { config: unknown }[])[0]?.config;
}

describe('a definition that a model changes', () => {
  it('shows no credential: neither of a node, nor of the agents of a brainstorm, nor inside an inner workflow', () => {
    const secret = (config: JsonObject): JsonObject => ({ ...config, auth: 'partner-key' });
    const inner = { nodes: [{ id: 'x', type: 'external', config: secret({ endpoint_url: URL }) }] };
    const { visible } = new CurrentDefinition({
      name: 'w',
      nodes: [
        { id: 'a', type: 'external', config: secret({ endpoint_url: URL }) },
        { id: 'b', type: 'brainstorm', config: { agents: [secret({ agent: URL })] } },
        { id: 'c', type: 'conversation', config: { target: URL, auth: { target: 'partner-key' } } },
        { id: 'd', type: 'workflow', config: { body: inner } },
      ],
    });
    expect(JSON.stringify(visible)).not.toContain('partner-key');
    expect(visible['nodes']).toMatchObject([
      { id: 'a', config: { endpoint_url: URL } },
      { id: 'b', config: { agents: [{ agent: URL }] } },
      { id: 'c', config: { target: URL } },
      { id: 'd', config: { body: { nodes: [{ id: 'x', config: { endpoint_url: URL } }] } } },
    ]);
  });

  it('keeps the credential of a changed node that calls the same agent, and of no other', () => {
    const config = { endpoint_url: URL, auth: 'partner-key' };
    expect(configAfter('external', config, { endpoint_url: URL, timeout: 5 })).toEqual({ ...config, timeout: 5 });
    const other = { endpoint_url: 'https://other.example.com/', timeout: 5 };
    expect(configAfter('external', config, other)).toEqual(other);
  });

  it('puts a node back to the letter where the model only says so or repeats it, in whichever order', () => {
    const node = { id: 'a', type: 'agent', config: { prompt: 'x', model: 'm' }, position: { x: 1, y: 2 } };
    const current = new CurrentDefinition({ name: 'w', nodes: [node, { id: 'b', type: 'output' }] });
    const answers: JsonObject[] = [
      { id: 'a', unchanged: true },
      { config: { model: 'm', prompt: 'x' }, type: 'agent', id: 'a' },
      { id: 'a', type: 'agent', config: { prompt: 'x', model: 'm' }, position: { x: 9, y: 9 } },
    ];
    for (const answer of answers) expect(current.apply({ nodes: [answer] })['nodes']).toEqual([node]);
    expect(current.apply({ nodes: [{ id: 'b', type: 'output', config: {} }] })['nodes']).toEqual([
      { id: 'b', type: 'output' },
    ]);
  });

  it('leaves a new node as the model wrote it, and what is no node to the checks', () => {
    const current = new CurrentDefinition({ nodes: 'none' });
    const nodes: JsonValue[] = [{ id: 'new', unchanged: true }, { type: 'agent' }, 7];
    expect(current.apply({ nodes })).toEqual({ nodes });
    expect(current.apply({ nodes: 1 })).toEqual({ nodes: 1 });
    expect(current.visible).toEqual({ nodes: 'none' });
  });
});
