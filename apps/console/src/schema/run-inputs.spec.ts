import { firstInputs, givenInputs, rerunInputs } from './run-inputs.js';

const input = (id: string, config: Record<string, unknown> = {}) => ({ id, type: 'input', config });
const TYPED = {
  type: 'object',
  properties: { count: { type: 'integer', default: 2 }, name: { type: 'string' } },
  required: ['count'],
};

describe('what a run begins with', () => {
  it('is what the schemas say, or what an earlier run had', () => {
    const nodes = [input('text'), input('typed', { schema: TYPED }), input('left', { schema: TYPED, optional: true })];
    expect(firstInputs(nodes)).toEqual({ typed: { count: 2 } });
    expect(firstInputs(nodes, { text: 'x', typed: { count: 7 }, other: 1 })).toEqual({
      text: 'x',
      typed: { count: 7 },
    });
  });

  it('is sent without what may be left out and was', () => {
    const nodes = [
      input('text'),
      input('left', { optional: true }),
      input('usual', { default: 'x' }),
      input('typed', { schema: TYPED }),
    ];
    expect(givenInputs(nodes, {})).toEqual({ text: '' });
    expect(givenInputs(nodes, { text: 'a', left: '', usual: 'y', typed: { count: 1 }, gone: 1 })).toEqual({
      text: 'a',
      usual: 'y',
      typed: { count: 1 },
    });
  });

  it('is, for another run, what the earlier one had beside what is asked for, and not what was emptied', () => {
    const nodes = [input('topic'), input('note', { optional: true })];
    const earlier = { topic: 'tea', note: 'old', beside: 1 };
    expect(rerunInputs(nodes, earlier, { topic: 'tea', note: '' })).toEqual({ topic: 'tea', beside: 1 });
  });
});
