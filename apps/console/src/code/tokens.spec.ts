import { endsInExpression, findTokens } from './tokens.js';

const show = (text: string, language: Parameters<typeof findTokens>[1]): string[] =>
  findTokens(text, language).map(({ from, to, kind }) => `${kind} ${text.slice(from, to)}`);

describe('findTokens', () => {
  it('finds the variables, functions, texts, numbers and keywords of an expression', () => {
    expect(show(`nodes.gate.data.size() > 1.5 && "a" in ['b'] // nodes`, 'expression')).toEqual([
      'name nodes',
      'function size',
      'number 1.5',
      'string "a"',
      'keyword in',
      "string 'b'",
    ]);
  });

  it('takes the inside of a text for no code', () => {
    expect(
      show(
        String.raw`'it\'s nodes' + r"x" + """a
b"""`,
        'expression',
      ),
    ).toEqual([String.raw`string 'it\'s nodes'`, 'string r"x"', 'string """a\nb"""']);
  });

  it('finds references, and expressions only where the workflow has them', () => {
    const text = 'Say {{a.data}} {{ b }} ${nodes.c.text}!';
    expect(show(text, 'text')).toEqual(['reference {{a.data}}']);
    expect(show(text, 'template')).toEqual(['reference {{a.data}}', 'keyword ${', 'name nodes', 'keyword }']);
  });

  it('ends an expression at its own brace, and not at one in a map or a text', () => {
    expect(show('${{"a": "}"}.a} {{b}}', 'template')).toEqual([
      'keyword ${',
      'string "a"',
      'string "}"',
      'keyword }',
      'reference {{b}}',
    ]);
    expect(show('${nodes. {{b}}', 'template')).toEqual(['keyword ${', 'name nodes', 'name b']);
  });

  it('tells the names of JSON from its values', () => {
    expect(show('{"a": ["b", -1.5e3, null]}', 'json')).toEqual([
      'name "a"',
      'string "b"',
      'number -1.5e3',
      'keyword null',
    ]);
  });
});

describe('endsInExpression', () => {
  it.each([
    ['Say ${nodes.', true],
    ['Say ${get({"a": 1}, "a")', true],
    ['Say ${a} and ', false],
    ['Say ${a} and {{b', false],
    ['Say {{a', false],
    ["${'}' + ", true],
  ])('%s: %s', (text, is) => expect(endsInExpression(text)).toBe(is));
});
