import { InvalidExpression } from './expression-error.js';
import { compileExpression } from './expression.js';
import type { Vocabulary } from './syntax-check.js';

const NODE_FIELDS = new Set(['status', 'text', 'data', 'artifacts', 'error', 'attempts', 'loop']);
const VOCABULARY: Vocabulary = {
  nodes: { members: new Set(['draft', 'my-draft', '1st', 'in']), fields: NODE_FIELDS, onlyMembers: true },
  inputs: { members: new Set(['topic']) },
  iteration: {},
};

function problem(text: string): { message: string; offset: number } {
  const outcome = compileExpression(text, VOCABULARY);
  if (!(outcome instanceof InvalidExpression)) throw new Error(`nothing is wrong with ${text}`);
  return { message: outcome.message, offset: outcome.offset };
}

function references(text: string) {
  const outcome = compileExpression(text, VOCABULARY);
  if (outcome instanceof InvalidExpression) throw outcome;
  return outcome.references;
}

describe('what an expression names', () => {
  it('is told with where it stands', () => {
    expect(references("nodes.draft.data.ok && nodes['my-draft'].text == inputs.topic || iteration > 2")).toEqual([
      { variable: 'nodes', member: 'draft', offset: 6 },
      { variable: 'nodes', member: 'my-draft', offset: 28 },
      { variable: 'inputs', member: 'topic', offset: 56 },
      { variable: 'iteration', offset: 65 },
    ]);
  });

  it.each<[string, string[]]>([
    ['has(nodes.draft.data.x)', ['nodes.draft']],
    ['.nodes.draft.text', ['nodes.draft']],
    ['nodes . draft . text', ['nodes.draft']],
    ['size(inputs)', ['inputs']],
    ["inputs['to' + 'pic']", ['inputs']],
    ['nodes.draft.data.map(e, e.nodes + nodes["1st"].text)', ['nodes.draft', 'nodes.1st']],
    ['nodes.draft.data[iteration].x', ['nodes.draft', 'iteration']],
    ['[1].map(e, e.draft)', []],
    ['"nodes.draft" + \'nodes.other\'', []],
    ['nodes.draft.loop.reason', ['nodes.draft']],
  ])('%s', (text, expected) => {
    expect(references(text).map(({ variable, member }) => [variable, member].join('.').replace(/\.$/, ''))).toEqual(
      expected,
    );
  });
});

describe('an expression that is refused', () => {
  it.each<[string, string, number]>([
    ['', 'an expression is missing', 0],
    ['nodes.darft.text', 'nodes has no "darft"', 6],
    ['nodes.draft.txt', 'nodes.draft has no "txt"', 12],
    ['nodes.my-draft.text', 'nodes has no "my"; a name with a hyphen is written [\'a-b\']', 6],
    ['has(nodes.other.data)', 'nodes has no "other"', 10],
    ['1 + size(nodes)', '"nodes" stands with a member alone: nodes.id or nodes[\'id\']', 9],
    ['nodes[inputs.topic]', '"nodes" stands with a member alone: nodes.id or nodes[\'id\']', 0],
    ['inputs.tpoic', 'inputs has no "tpoic"', 7],
    ['iteration > 1 && now', 'there is no variable "now" here; there are: nodes, inputs, iteration', 17],
    ['constructor', 'there is no variable "constructor" here; there are: nodes, inputs, iteration', 0],
    ['[1].map(nodes, 1)', '"nodes" is a variable: an element needs another name', 4],
    ['foo(1)', 'there is no function "foo"', 0],
    ['size(1, 2)', '"size" is called otherwise: size(…)', 0],
    ["'a'.split()", '"split" is called otherwise: x.split(…)', 4],
    ['[1].map(1, 2)', '"map" is not written like this: list.map(x, …), has(a.b)', 4],
    ['google.protobuf.Struct{}', 'there is no type "google.protobuf.Struct" to make', 0],
    ['9223372036854775808', 'this number is too large', 0],
    ['1e999', 'this number is too large', 0],
    ["'a'.matches('(')", 'RE2 does not know this regular expression', 4],
    ["'a'.matches('(a{500}){500}')", 'RE2 does not know this regular expression', 4],
    ['(1 + [2)', 'there is nothing that this ) closes', 7],
    ['size("a', 'this text has no end', 5],
    ['size("a"', 'this ( is never closed', 4],
    ['loop', 'reserved identifier', 0],
    ['😀', expect.stringMatching(/^found 😀 but expecting /) as never, 0],
  ])('%s', (text, message, offset) => {
    expect(problem(text)).toEqual({ message, offset });
  });

  it.each([
    ['"a\\q"', 2, '\\q'],
    ["'''\\8'''", 3, '\\8'],
    ['"\\08"', 1, '\\0'],
    ['"\\400"', 1, '\\4'],
    ['"\\x4"', 1, '\\x'],
    ['"\\xZZ"', 1, '\\x'],
    ['"\\u00"', 1, '\\u'],
    ['"\\u{1F600}"', 1, '\\u'],
    ['"\\U0001F60"', 1, '\\U'],
    ['"\\😀"', 1, '\\😀'],
  ])('has an escape that there is not: %s', (text, offset, escape) => {
    const known = 'a backslash is written \\\\, a character \\u00e9 or \\U0001f600';
    expect(problem(text)).toEqual({ message: `there is no escape ${escape} here; ${known}`, offset });
  });

  it('has an escape that is no character, or none of bytes', () => {
    expect(problem('"\\uD83D\\uDE00"')).toEqual({ message: '\\uD83D is no character', offset: 1 });
    expect(problem('1 + "\\U00110000"')).toEqual({ message: '\\U00110000 is no character', offset: 5 });
    const byte = 'there is no escape \\u00e9 here; a backslash is written \\\\, a byte \\xe9';
    expect(problem('b"\\u00e9"')).toEqual({ message: byte, offset: 2 });
  });

  it('is too long, too large or too deep', () => {
    expect(problem('1'.padEnd(2_001)).message).toBe('an expression has at most 2000 characters');
    expect(problem(`1${'+1'.repeat(300)}`).message).toBe('an expression has at most 300 parts');
    expect(compileExpression(`1${'+1'.repeat(149)}`, {})).not.toBeInstanceOf(InvalidExpression);
    expect(problem(`${'['.repeat(61)}${']'.repeat(61)}`)).toEqual({
      message: 'an expression has at most 60 brackets in each other',
      offset: 60,
    });
    expect(compileExpression(`${'['.repeat(60)}${']'.repeat(60)}`, {})).not.toBeInstanceOf(InvalidExpression);
    expect(problem('[1].all(a, [a].all(b, [b].all(c, c > 0)))').message).toBe(
      'an expression has at most 2 macros in each other',
    );
    expect(compileExpression('[1].all(a, [a].all(b, b > 0))', {})).not.toBeInstanceOf(InvalidExpression);
  });

  it('tells of places behind other than plain characters in UTF-16 code units', () => {
    expect(problem("'😀é' + nodes.other.text").offset).toBe("'😀é' + nodes.".length);
    expect(problem("'😀' + (").offset).toBe("'😀' + ".length);
  });
});
