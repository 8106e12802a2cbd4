import { agentHref, agentLabel, parseAgentRef } from './agent-ref.js';
import { remoteAgents } from './remote-agents.js';

const external = (url: unknown) => ({ type: 'external', config: { endpoint_url: url } });

describe('remoteAgents', () => {
  it('knows each agent once, with who calls it', () => {
    const workflows = [
      { name: 'one', nodes: [external('https://a'), external('https://a'), { type: 'agent' }] },
      { name: 'two', nodes: [external('https://a'), external('{{url}}'), external(undefined), external('https://c')] },
    ];
    expect(remoteAgents(['https://b', 'https://c'], workflows)).toEqual([
      { url: 'https://b', workflows: [], added: true },
      { url: 'https://c', workflows: ['two'], added: true },
      { url: 'https://a', workflows: ['one', 'two'], added: false },
    ]);
  });
});

describe('an agent in an address', () => {
  it.each([
    ['/', 'Parley'],
    ['workflows/greeting/nodes/greet', 'workflows/greeting/nodes/greet'],
    ['https://example.com/a?b=c&d', 'https://example.com/a?b=c&d'],
  ])('%s is there and back', (text, label) => {
    const ref = parseAgentRef(text);
    expect(agentLabel(ref)).toBe(label);
    expect(new URLSearchParams(agentHref(ref, 'playground').split('?')[1]).get('agent')).toBe(text);
  });
});
