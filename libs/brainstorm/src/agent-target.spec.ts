import { agentTarget, defaultName } from './brainstorm-spec.js';

describe('nameOf', () => {
  it.each([
    ['greeting', 'greeting'],
    ['workflows/greeting/nodes/writer', 'writer'],
    ['agents/translator', 'translator'],
    ['http://a.test/agents/critic', 'critic'],
    ['http://a.test/agents/critic/', 'critic'],
    ['http://a.test/agents/critic/a2a', 'critic'],
    ['http://a.test/agents/critic/.well-known/agent-card.json', 'critic'],
    ['http://a.test/agents/critic/.well-known/agent.json', 'critic'],
    ['http://a.test:4001/.well-known/agent-card.json', 'a.test:4001'],
    ['http://a.test:4001', 'a.test:4001'],
  ])('of %s is %s', (reference, name) => {
    const target = agentTarget(reference);
    expect(target && defaultName(target)).toBe(name);
  });
});
