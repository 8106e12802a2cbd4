import { ContentTooLarge, type JsonValue, TextBudget } from '#libs/protocol';
import { ExpressionError, InvalidExpression } from './expression-error.js';
import { compileTemplate, expressionsIn, isFillingOf, renderTemplate, type Template } from './template.js';

const VOCABULARY = { nodes: { members: new Set(['a']), onlyMembers: true }, x: {} };

function compiled(value: JsonValue): Template {
  const template = compileTemplate(value, VOCABULARY);
  if (Array.isArray(template)) throw new Error(template.map(({ message }) => message).join());
  return template;
}

function rendered(value: JsonValue, x: JsonValue = null, texts = new TextBudget()): JsonValue {
  return renderTemplate(compiled(value), {
    variables: { x, nodes: { a: { text: 'A' } } },
    resolve: (id) => (id === 'known' ? '{{known}} ${x}' : undefined),
    texts,
  });
}

function problems(value: JsonValue) {
  const outcome = compileTemplate(value, VOCABULARY);
  if (!Array.isArray(outcome)) throw new Error('nothing is wrong');
  return outcome.map(({ message, offset, path }) => ({ message, offset, path }));
}

describe('a template', () => {
  it.each<[string, JsonValue, JsonValue]>([
    ['${x}', 1.5, 1.5],
    ['${x}', { a: [1] }, { a: [1] }],
    ['${x}', null, null],
    [' ${x}', null, ' null'],
    ['${x}${x}', 1, '11'],
    ['x: ${x}, {{unknown}}', { a: [1, 'b'] }, 'x: {"a":[1,"b"]}, {{unknown}}'],
    ['${x} {{known}}', 'text', 'text {{known}} ${x}'],
    ['${x}', '${x} {{known}}', '${x} {{known}}'],
    ['-${x}-', '${x} {{known}}', '-${x} {{known}}-'],
    ['{{known}}', '', '{{known}} ${x}'],
    ["${'}' + x + \"{\" + r'\\' + '''}'}''' + '\\'}'}!", 'b', "}b{\\}'}'}!"],
    ["${{'a': {'b': x}}.a}", 1, { b: 1 }],
    ['${x // } not here\n}', 1, 1],
    ["${'$'}{{known}} ${'${'}x}", '', '${{known}} ${x} ${x}'],
    ['$ {x} $x {x} $', '', '$ {x} $x {x} $'],
    ["${'{{known}}'}", '', '{{known}}'],
    ['${ nodes.a.text }', '', 'A'],
    ['', '', ''],
  ])('%s with %j', (text, x, expected) => {
    expect(rendered(text, x)).toEqual(expected);
  });

  it('is JSON of any depth, the names of whose members stay', () => {
    const value = { '${x}': ['${x}', { b: '<${x}>', c: 1, d: null }] };
    expect(rendered(value, 2)).toEqual({ '${x}': [2, { b: '<2>', c: 1, d: null }] });
  });

  it('tells what it names, and where', () => {
    expect(compiled({ a: ['', '{{a}} ${nodes.a.text + x}'] }).references).toEqual([
      { variable: 'nodes', member: 'a', offset: 14, path: 'a[1]' },
      { variable: 'x', offset: 23, path: 'a[1]' },
    ]);
  });

  it('tells all its problems', () => {
    expect(problems({ a: 'ab ${nodes.b} ${', c: ["${'}"], d: '${{x}}' })).toEqual([
      { message: 'nodes has no "b"', offset: 11, path: 'a' },
      { message: 'this ${ is never closed', offset: 14, path: 'a' },
      { message: 'this ${ is never closed', offset: 0, path: 'c[0]' },
      expect.objectContaining({
        message: expect.stringContaining("a dollar before {{…}} is written ${'$'}"),
        path: 'd',
      }),
    ]);
    expect(problems('${}')).toEqual([{ message: 'an expression is missing', offset: 2, path: '' }]);
  });

  it('says where an expression failed', () => {
    const failed = () => rendered({ a: [1, 'é ${x.y.z}'] }, {});
    expect(failed).toThrow(ExpressionError);
    try {
      failed();
    } catch (error) {
      expect(error).toMatchObject({ kind: 'expression', path: 'a[1]', offset: 6, message: 'field not found: y' });
    }
  });

  it('is bounded: its results are counted, texts or not, and its expressions share their steps', () => {
    const x = 'x'.repeat(1_000);
    expect(() => rendered(Array<string>(11).fill('${x}'), x, new TextBudget(10_000))).toThrow(ContentTooLarge);
    expect(() => rendered(Array<string>(11).fill('${[x]}'), x, new TextBudget(10_000))).toThrow(ContentTooLarge);
    expect(() => rendered('${x} {{known}}', x, new TextBudget(1_010))).toThrow(ContentTooLarge);
    const heavy = '${x.all(e, e.all(f, true))}';
    const square = Array.from({ length: 300 }, () => Array<number>(300).fill(1));
    expect(rendered(heavy, square)).toBe(true);
    expect(() => rendered(Array<string>(5).fill(heavy), square)).toThrow('goes through more than 100000 elements');
  });

  it('is refused where it is not one', () => {
    expect(() => renderTemplate({ references: [] }, { variables: {}, resolve: () => undefined })).toThrow(TypeError);
    expect(compileTemplate('${', VOCABULARY)).toEqual([expect.any(InvalidExpression)]);
  });
});

describe('expressionsIn', () => {
  test('gives what there is to compile, at any depth, also where it could not be', () => {
    const value = { a: ['${x} and ${"}"}', 5], b: { '${name}': '${', c: '{{a}} ${1 +}' }, d: null };
    expect([...expressionsIn(value)]).toEqual(['x', '"}"', '1 +']);
  });

  test('reads a text once, however many expressions never end', () => {
    expect([...expressionsIn('${ '.repeat(50))]).toEqual([]);
    expect([...expressionsIn('${x}'.repeat(300_000))]).toHaveLength(300_000);
  });
});

test('an expression that is nested too deep ends there: what comes after it is not read to find its end', () => {
  const nested = '${ '.repeat(300_000);
  const { value } = expressionsIn(nested).next() as { value: string };
  expect(value.length).toBeLessThan(1_000);
  const message = 'an expression has at most 60 brackets in each other';
  expect(compileTemplate(nested.slice(0, 300), VOCABULARY)).toContainEqual(expect.objectContaining({ message }));
});

describe('isFillingOf', () => {
  test.each<[string, JsonValue, boolean]>([
    ['${x}', { any: ['thing'] }, true],
    ['http://a/${x}?b={{c}}', 'http://a/1?b=2', true],
    ['http://a/${x}', 'http://b/1', false],
    ['http://a/${x}', 5, false],
    ["${'}'}${x} end", 'anything end', true],
    ['fixed', 'fixed', true],
    ['fixed', 'other', false],
  ])('%s: %j is one: %s', (text, value, expected) => {
    expect(isFillingOf(text, value)).toBe(expected);
  });
});
