import { UnknownAgent } from '#libs/agents';
import { InputNode } from './node-executor.js';
import { NodeTypeRegistry } from './node-type-registry.js';
import { ScriptNode } from './script/script-node.js';

describe('NodeTypeRegistry', () => {
  const types = new NodeTypeRegistry([new InputNode(), new ScriptNode()]);

  it('B15 says so where no type is registered', () => {
    expect(types.findProblems({ id: 'x', type: 'magic', config: {} })).toEqual([
      { path: 'type', detail: 'unknown node type "magic"' },
    ]);
    expect(types.findProblems({ id: 'x', type: 'inptu', config: {} })).toEqual([
      { path: 'type', detail: 'unknown node type "inptu"; did you mean "input"?' },
    ]);
    let failure: unknown;
    try {
      types.createExecutor({ id: 'x', type: 'magic', config: {} });
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(UnknownAgent);
    expect(failure).toMatchObject({ message: 'no executor for node type "magic"', reason: 'NO_EXECUTOR' });
  });

  it('keeps the executor of a definition, and makes another for another', () => {
    const node = { id: 's', type: 'script', config: { script: { otherwise: [] } } };
    expect(types.createExecutor({ ...node })).toBe(types.createExecutor(node));
    expect(types.createExecutor({ ...node, config: { ...node.config } })).not.toBe(types.createExecutor(node));
    expect(types.names).toEqual(['input', 'script']);
  });

  it('names the node in the problems of its script', () => {
    expect(types.findProblems({ id: 's', type: 'script', config: {} })).toEqual([
      { path: 'config.script', detail: 'script node "s": script must be an object with rules and otherwise' },
    ]);
  });
});
