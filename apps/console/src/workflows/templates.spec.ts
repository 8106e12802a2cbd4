import { insertReference, completionAt, inExpression, unknownReferences } from './templates.js';

describe('unknownReferences', () => {
  it('names what no node is called, once', () => {
    expect(unknownReferences('{{a}} {{b}} {{b.data}} {{b}} {{c.d.e}}', ['a', 'c'])).toEqual(['{{b}}', '{{b.data}}']);
  });

  it('leaves alone what the service takes for no reference', () => {
    expect(unknownReferences('{{ a }} {{a-b}} {a} {{}}', [])).toEqual([]);
  });
});

describe('completionAt', () => {
  it('offers the nodes that begin with what is typed', () => {
    expect(completionAt('Say {{in', 8, ['input1', 'Inner', 'other', 'in-valid'])).toEqual({
      from: 4,
      candidates: ['input1', 'Inner'],
    });
    expect(completionAt('{{', 2, ['a'])).toEqual({ from: 0, candidates: ['a'] });
  });

  it('offers nothing elsewhere', () => {
    expect(completionAt('Say {{in}} ', 11, ['input1'])).toBeUndefined();
    expect(completionAt('{{x', 3, ['a'])).toBeUndefined();
  });
});

describe('complete', () => {
  it('puts the reference in for what was typed, and keeps what follows', () => {
    expect(insertReference('Say {{in now', 8, 4, 'input1')).toEqual({ text: 'Say {{input1}} now', caret: 14 });
    expect(insertReference('{{in}}!', 4, 0, 'input1')).toEqual({ text: '{{input1}}!', caret: 10 });
  });
});

describe('inExpression', () => {
  it.each([
    ['Say ${nodes.', true],
    ['Say ${get({"a": 1}, "a")', true],
    ['Say ${a} and ', false],
    ['Say {{a', false],
    ["${'}' + ", true],
  ])('%s: %s', (text, is) => expect(inExpression(text, text.length)).toBe(is));
});
