import { EMPTY_DRAFT } from './draft.js';
import { withWord, wordsAt } from './expression-words.js';

const draft = {
  ...EMPTY_DRAFT,
  nodes: [
    { id: 'topic', type: 'input', config: {} },
    { id: 'draft', type: 'agent', config: {} },
    { id: 'no-word', type: 'agent', config: {} },
  ],
};
const offered = (text: string): string[] | undefined => wordsAt(text, text.length, draft)?.candidates;

describe('wordsAt', () => {
  it('offers the nodes, and what is known of one', () => {
    expect(offered('nodes.')).toEqual(['topic', 'draft']);
    expect(offered('1 + nodes.dr')).toEqual(['draft']);
    expect(offered('nodes.draft.te')).toEqual(['text']);
    expect(offered('!inputs.')).toEqual(['topic']);
    expect(offered('error.k')).toEqual(['kind']);
    expect(offered('it')).toEqual(['item', 'iteration']);
  });

  it('offers nothing where anything may stand', () => {
    expect(offered('')).toBeUndefined();
    expect(offered('nodes.draft.data.')).toBeUndefined();
    expect(offered("'nodes")).toBeUndefined();
    expect(offered('iteration')).toBeUndefined();
  });
});

describe('withWord', () => {
  it('puts the word in for what was typed', () =>
    expect(withWord('nodes.dr == 1', 8, 6, 'draft')).toEqual({ text: 'nodes.draft == 1', caret: 11 }));
});
