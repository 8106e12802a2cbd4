import { answerSummary, fallbacksSummary, limitsSummary, memorySummary, toolsSummary } from './agent-summaries.js';
import { patternFor, toggleEntry } from './patterns.js';

describe('what is set of an agent, in a few words', () => {
  it('names its tools, and whether somebody is asked', () => {
    expect(toolsSummary({})).toBeUndefined();
    expect(toolsSummary({ tools: ['calculator', 'docs/*'] })).toBe('calculator, docs/*');
    expect(toolsSummary({ tools: ['a', { agent: 'poet', name: 'bard' }] })).toBe('a, agent:bard');
    expect(toolsSummary({ tools: ['a', 'b', 'c'], approve: ['c'] })).toBe('a, b, …; asks first');
  });

  it('names what else is not as usual', () => {
    expect(fallbacksSummary({ fallbacks: ['small', 'echo'] })).toBe('small, then echo');
    expect(answerSummary({ output: { type: 'object' }, temperature: 0 })).toBe('data of a schema, temperature 0');
    expect(memorySummary({ history: 'none' })).toBe('nothing');
    expect(memorySummary({ history: 'context' })).toBeUndefined();
    expect(limitsSummary({ maxSteps: 4, budget: { tokens: 900 }, onUncertain: 'fail' })).toBe(
      '4 model calls, 900 tokens, in doubt fail',
    );
    expect(limitsSummary({ onUncertain: 'ask' })).toBeUndefined();
  });
});

describe('patterns of tools', () => {
  it('name tools by their globs, and nothing beside them', () => {
    expect(patternFor('docs/search_pages', ['docs/erase', 'docs/search_*'])).toBe('docs/search_*');
    expect(patternFor('docs/a.b', ['docs/a?b'])).toBe('docs/a?b');
    expect(patternFor('docs/axb', ['docs/a.b'])).toBeUndefined();
    expect(patternFor('other/search', ['docs/*'])).toBeUndefined();
  });

  it('are added once, and taken away', () => {
    expect(toggleEntry(['a', 'b'], 'a', true)).toEqual(['b', 'a']);
    expect(toggleEntry(['a', 'b'], 'a', false)).toEqual(['b']);
  });
});
