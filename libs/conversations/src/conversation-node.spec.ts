import { CallChains } from '#libs/agents';
import { userMessage } from '#libs/protocol';
import { ANONYMOUS_SCOPE } from '#libs/tasks';
import type { ConversationServices } from './conversation-calls.js';
import { ConversationNode } from './conversation-node.js';
import { readSettings } from './conversation-state.js';

describe('the config of a conversation node', () => {
  const problems = (config: Record<string, string | number>) =>
    new ConversationNode({} as ConversationServices).findProblems({ id: 'talk', type: 'conversation', config });

  it('needs no message, which may come from the nodes before it', () => {
    expect(problems({ target: 'a' })).toEqual([]);
  });

  it('says how agents elsewhere are told what is wanted of them', () => {
    expect(problems({ target: 'a', instructions: 'text' })).toEqual([]);
    expect(problems({ target: 'a', instructions: 'data' })).toEqual([
      { path: 'config.instructions', detail: 'conversation node "talk": instructions must be text or none' },
    ]);
  });

  it('is wrong with the member that is', () => {
    expect(problems({ maxTurns: 21 })).toEqual([
      { path: 'config.target', detail: 'conversation node "talk": target is required' },
      { path: 'config.maxTurns', detail: expect.stringMatching(/^conversation node "talk": maxTurns /) },
    ]);
  });

  it('of a definition that was saved before turns had a longest limit is taken with that limit', () => {
    const config = { target: 'a', timeoutMs: 7_200_000 };
    const services = { chains: new CallChains(Buffer.from('a secret')) } as ConversationServices;
    const executor = new ConversationNode(services).createExecutor({ id: 'talk', type: 'conversation', config });
    const metadata = executor.taskMetadata?.({ message: userMessage('hello') }, { scope: ANONYMOUS_SCOPE });
    expect(readSettings(metadata)).toMatchObject({ timeoutMs: 3_600_000 });
    expect(problems(config)).toHaveLength(1);
  });
});
