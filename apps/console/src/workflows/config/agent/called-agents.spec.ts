import { agentEntry, approvedName, callableAgents, matchingAgents, referenceIn } from './called-agents.js';

describe('the agents that a model may call', () => {
  it('are those of this service but for the own workflow, then those elsewhere, each once', () => {
    const served = [
      '',
      'workflows/poet',
      'workflows/poet/nodes/a',
      'workflows/w',
      'workflows/w/nodes/a',
      'workflows/w2',
    ];
    const agents = callableAgents(
      'w',
      served.map((path) => ({ path, description: `at ${path}` })),
      [{ url: 'https://a.example', name: 'Ada' }],
      ['https://a.example', 'https://b.example'],
    );
    expect(agents).toEqual([
      { reference: 'poet', about: 'at workflows/poet' },
      { reference: 'workflows/poet/nodes/a', about: 'at workflows/poet/nodes/a' },
      { reference: 'w2', about: 'at workflows/w2' },
      { reference: 'https://a.example', about: 'Ada' },
      { reference: 'https://b.example', about: 'added in this browser' },
    ]);
  });

  it('are offered by what is typed of a name, then of a description, 20 at most', () => {
    const named = (reference: string, about = '') => ({ reference, about });
    const agents = [named('critic', 'judges a Poem'), named('old-poet'), named('poet'), named('sum')];
    expect(matchingAgents(agents, ' PO').map(({ reference }) => reference)).toEqual(['poet', 'old-poet', 'critic']);
    expect(matchingAgents(agents, 'nobody')).toEqual([]);
    const many = Array.from({ length: 500 }, (_, index) => named(`a${index}`));
    expect(matchingAgents(many, '')).toHaveLength(20);
  });

  it('stand among the tools with or without settings', () => {
    expect(agentEntry('poet')).toBe('agent:poet');
    expect(['agent:poet', { agent: 'https://a.example' }, 'docs/*', {}, null].map(referenceIn)).toEqual([
      'poet',
      'https://a.example',
      undefined,
      undefined,
      undefined,
    ]);
    expect([{ agent: 'poet', name: 'bard' }, { agent: 'poet' }].map(approvedName)).toEqual([
      'agent:bard',
      'agent:poet',
    ]);
  });
});
