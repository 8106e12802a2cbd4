import { EMPTY_DRAFT } from './draft.js';
import { wordsAt } from './expression-words.js';

const draft = {
  ...EMPTY_DRAFT,
  nodes: [
    { id: 'later', type: 'agent', config: {} },
    { id: 'topic', type: 'input', config: {} },
    { id: 'draft', type: 'agent', config: {} },
    { id: 'no-word', type: 'agent', config: {} },
    { id: 'end', type: 'output', config: {} },
  ],
  edges: [
    { from: 'topic', to: 'draft' },
    { from: 'draft', to: 'end' },
  ],
};
const at = (text: string, explicit = false) => wordsAt(text, text.length, draft, 'edges[1].when', explicit);
const offered = (text: string): string[] | undefined => at(text)?.words.map(({ label }) => label);

describe('wordsAt', () => {
  it('offers the nodes, and what is known of one', () => {
    expect(offered('1 + nodes.dr')).toEqual(['draft']);
    expect(offered('nodes.draft.te')).toEqual(['text']);
    expect(offered('!inputs.')).toEqual(['topic']);
    expect(offered('error.k')).toEqual(['kind']);
    expect(offered('run.id')).toBeUndefined();
    expect(offered('run.w')).toEqual(['workflow']);
    expect(offered('it')).toEqual(['item', 'iteration']);
    expect(offered('pars')).toEqual(['parseJson']);
  });

  it('offers nodes that have run first, and the others apart', () => {
    expect(at('nodes.')?.words).toEqual([
      { label: 'topic' },
      { label: 'draft' },
      { label: 'later', apart: true },
      { label: 'end', apart: true },
    ]);
  });

  it('offers nothing where anything may stand', () => {
    expect(offered('')).toBeUndefined();
    expect(offered('nodes.draft.data.')).toBeUndefined();
    expect(offered("'nodes")).toBeUndefined();
    expect(offered('iteration')).toBeUndefined();
  });

  it('offers every name to a person who asks where none is typed', () => {
    expect(at('', true)?.words[0]).toEqual({ label: 'nodes' });
  });

  it('replaces what was typed, and the rest of the word', () => {
    expect(wordsAt('nodes.dr == 1', 8, draft, 'edges[1].when')).toMatchObject({ from: 6, to: 8 });
    expect(wordsAt('nodes.draft == 1', 8, draft, 'edges[1].when')).toMatchObject({ from: 6, to: 11 });
  });

  it('reads no more than the end of a long text', () => {
    const long = `${'a.'.repeat(40_000)} + nodes.dr`;
    expect(offered(long)).toEqual(['draft']);
  });
});
