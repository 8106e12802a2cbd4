import { type Draft, EMPTY_DRAFT } from './draft.js';
import { templateWordsAt, unknownReferences } from './templates.js';

const ids = (...names: string[]): Draft['nodes'] => names.map((id) => ({ id, type: 'agent', config: {} }));

describe('unknownReferences', () => {
  it('names what no node is called, once', () => {
    expect(unknownReferences('{{a}} {{b}} {{b.data}} {{b}} {{c.d.e}}', ['a', 'c'])).toEqual(['{{b}}', '{{b.data}}']);
  });

  it('leaves alone what the service takes for no reference', () => {
    expect(unknownReferences('{{ a }} {{a-b}} {a} {{}}', [])).toEqual([]);
  });
});

describe('templateWordsAt', () => {
  const draft: Draft = {
    ...EMPTY_DRAFT,
    nodes: [
      ...ids('own', 'input1', 'Inner', 'other', 'in-valid'),
      { id: 'aside', type: 'input', config: {} },
      ...ids('inLater'),
    ],
    edges: [
      { from: 'input1', to: 'Inner' },
      { from: 'Inner', to: 'own' },
      { from: 'own', to: 'inLater' },
    ],
  };
  const at = (text: string, caret = text.length, of: Draft = draft) =>
    templateWordsAt(text, caret, of, 'nodes[0].config.prompt');

  it('offers the nodes that begin with what is typed, those that run before this one first', () => {
    expect(at('Say {{in')).toEqual({
      from: 4,
      to: 8,
      words: [
        { label: 'input1', text: '{{input1}}' },
        { label: 'Inner', text: '{{Inner}}' },
        { label: 'inLater', text: '{{inLater}}', apart: true },
      ],
      apart: 'Not run before this',
    });
  });

  it('offers every input, whose value is there from the beginning, and not the node itself', () => {
    expect(at('{{')?.words.map(({ label, apart = false }) => [label, apart])).toEqual([
      ['input1', false],
      ['Inner', false],
      ['aside', false],
      ['other', true],
      ['inLater', true],
    ]);
  });

  it('offers the node itself where a loop repeats it', () => {
    const looped: Draft = { ...draft, edges: [{ from: 'own', to: 'own', loop: { max_iterations: 2 } }] };
    expect(at('{{ow', 4, looped)?.words).toEqual([{ label: 'own', text: '{{own}}' }]);
  });

  it('offers nothing elsewhere', () => {
    expect(at('Say {{in}} ')).toBeUndefined();
    expect(at('{{x')).toBeUndefined();
    expect(at('Say ${nodes.')).toBeUndefined();
  });

  it('replaces what was typed, with the rest of the reference', () => {
    expect(at('Say {{in now', 8)).toMatchObject({ from: 4, to: 8 });
    expect(at('{{in}}!', 4)).toMatchObject({ from: 0, to: 6 });
    expect(at('{{inner}}!', 4)).toMatchObject({ from: 0, to: 9 });
  });

  it('offers names after ${ in a workflow that has expressions', () => {
    const words = at('Say ${nodes.', 12, { ...draft, language: 2 })?.words;
    expect(words?.slice(0, 3)).toEqual([{ label: 'input1' }, { label: 'Inner' }, { label: 'own', apart: true }]);
  });

  it('offers references after an expression that is closed', () => {
    expect(at('Say ${1} {{inn', 14, { ...draft, language: 2 })?.words).toEqual([{ label: 'Inner', text: '{{Inner}}' }]);
  });
});
