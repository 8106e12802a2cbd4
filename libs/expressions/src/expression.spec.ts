import { ExpressionError, InvalidExpression } from './expression-error.js';
import {
  compileExpression,
  evaluateCondition,
  evaluateExpression,
  evaluatePointInTime,
  type Variables,
} from './expression.js';
import type { Vocabulary } from './syntax-check.js';
import { Members } from './values.js';

const ANY: Vocabulary = Object.fromEntries(
  ['a', 'b', 'l', 'm', 'n', 's', 't', 'x', 'inputs', 'now'].map((it) => [it, {}]),
);

function compiled(text: string, vocabulary: Vocabulary = ANY) {
  const expression = compileExpression(text, vocabulary);
  if (expression instanceof InvalidExpression) throw expression;
  return expression;
}

const value = (text: string, variables: Variables = {}) => evaluateExpression(compiled(text), variables);

function failure(work: () => unknown): { message: string; offset: number } {
  try {
    work();
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof InvalidExpression)
      return { message: error.message, offset: error.offset };
    throw error;
  }
  throw new Error('nothing was wrong');
}

describe('the value of an expression', () => {
  it.each<[string, unknown, Variables?]>([
    ['1 + 2 * 3', 7],
    ['7 / 2', 3],
    ['-7 % 3', -1],
    ['n + 1', 3.5, { n: 2.5 }],
    ['1 - n', -1, { n: 2 }],
    ['n / 2', 1.5, { n: 3 }],
    ['n % 2 == 1', true, { n: 3 }],
    ['n * size(l)', 6, { n: 3, l: [1, 2] }],
    ['l[n]', 'b', { n: 1, l: ['a', 'b'] }],
    ['l.map(x1, x1 * 2)', [2, 4], { l: [1, 2] }],
    [
      "l.filter(e, e.ok).map(e, {'id': e.id})",
      [{ id: 2 }],
      {
        l: [
          { ok: false, id: 1 },
          { ok: true, id: 2 },
        ],
      },
    ],
    ['l.exists(e, e > 1) && l.all(e, e > 0) && l.exists_one(e, e == 1)', true, { l: [1, 2] }],
    ['m.exists(k, k == "a")', true, { m: { a: 1 } }],
    ['m == {"a": 1, "b": [null, {"c": 2}]}', true, { m: { a: 1, b: [null, { c: 2 }] } }],
    ['[1, 2] + [3]', [1, 2, 3]],
    ['9007199254740993', '9007199254740993'],
    ['9007199254740991', 9007199254740991],
    ['b"abc"', 'YWJj'],
    ['timestamp("2026-01-01T00:00:00Z") + duration("90m")', '2026-01-01T01:30:00Z'],
    ['duration("90m")', '5400s'],
    ['{1: "a", true: "b"}', { 1: 'a', true: 'b' }],
    ['type(timestamp("2026-01-01T00:00:00Z")) == google.protobuf.Timestamp && type(1) == int', true],
    ['1 / 0 == 1 || true', true],
    ['1 / 0 == 1 && false', false],
    ['"x" + string(1.5) + string(true)', 'x1.5true'],
    ["s.matches('^a+$')", true, { s: 'aaa' }],
    ["matches(s, 'b')", false, { s: 'aaa' }],
    ['1 in l && 3 in l == false', true, { l: [1, 2] }],
    ['"\\u00e9"', 'é'],
    ['(n > 1 ? a : b).c', 2, { n: 0, a: { c: 1 }, b: { c: 2 } }],
    ['x', null, { x: null }],
    ['m.map(k, m[k])', [1, 2], { m: { a: 1, b: 2 } }],
    [
      '[1, 2].map(e, [3, 4].map(f, e * f))',
      [
        [3, 4],
        [6, 8],
      ],
    ],
    ['l + [3] == [1, 2, 3] && l + [4] == [1, 2, 4]', true, { l: [1, 2] }],
    [
      '[[1].map(e, e)].map(e, [e + [2], e + [3]])',
      [
        [
          [1, 2],
          [1, 3],
        ],
      ],
    ],
    ['// first\n1', 1],
  ])('%s', (text, expected, variables = {}) => {
    expect(value(text, variables)).toEqual(expected);
  });

  it('reads JSON whose members are named like those of classes', () => {
    const m = JSON.parse('{"constructor": 1, "__proto__": {"a": 2}, "toString": null}');
    expect(value('[m.constructor, m.__proto__.a, m.toString]', { m })).toEqual([1, 2, null]);
    expect(value('has(m.hasOwnProperty) || "valueOf" in m', { m })).toBe(false);
  });

  it('knows a null that is there from what is not', () => {
    const variables = { m: { a: null, b: 1 } };
    expect(value("has(m.a) && 'a' in m && m.a == null && !has(m.c) && !('c' in m)", variables)).toBe(true);
    expect(value("has({'a': null}.a) && !has(m.a.b)", variables)).toBe(true);
  });

  it('gives JSON on as it is, and never copies it', () => {
    const m = { a: [{ b: 'c' }] };
    expect(value('m', { m })).toBe(m);
    expect(value('m.a', { m })).toBe(m.a);
  });

  it('goes through as many elements as a list may have', () => {
    const l = Array.from({ length: 20_000 }, (_, index) => index);
    expect(value('l.map(e, e + 1).filter(e, e > 19999).map(e, e * 1.0)', { l })).toEqual([20_000]);
  });

  it('goes through 250 elements 250 times', () => {
    const l = Array.from({ length: 250 }, (_, index) => index);
    expect(value('l.all(e, l.all(f, e + f >= 0))', { l })).toBe(true);
  });
});

describe('what JSON needs', () => {
  const x = { a: [{ b: 'found', n: null }], 'c d': 1 };
  it.each<[string, unknown]>([
    ["get(x, 'a[0].b', '')", 'found'],
    ["get(x, 'a.0.b', '')", 'found'],
    ["get(x, 'a[1].b', 'none')", 'none'],
    ["get(x, 'a[0].b.c', 'none')", 'none'],
    ["get(x, 'a[0].n', 'none')", 'none'],
    ["get(x, 'c d', 0)", 1],
    ["get(null, 'a', 'none')", 'none'],
    ['parseJson(\'{"a": [1, null]}\').a[0] + 1', 2],
  ])('%s', (text, expected) => {
    expect(value(text, { x })).toEqual(expected);
  });

  it.each([
    "get(x, '', 1)",
    "get(x, 'a..b', 1)",
    "get(x, '[x]', 1)",
    "parseJson('{')",
    'parseJson(\'{"a": [1, -1e999]}\')',
    `parseJson('${'9'.repeat(310)}')`,
  ])('refuses %s', (text) => {
    expect(failure(() => value(text, { x })).offset).toBe(0);
  });
});

describe('an expression without a value', () => {
  it.each<[string, string, number, Variables?]>([
    ['true && x.y', 'field not found: y', 10, { x: {} }],
    ['1 / 0', 'int divide by zero', 2],
    ['"a" + 1', '+ does not take (string, int)', 4],
    ['x ? 1 : 2', '?: does not take (double)', 0, { x: 1 }],
    ['[1][5]', 'index 5 out of bounds', 0],
    ['1.0 / 0.0', 'Infinity is no number of JSON', 0],
    ['{"a": [x]}', 'this has no value here', 7],
    ['type(1)', 'a type is no result', 0],
    ['9223372036854775807 + 1', 'int overflow during +', 20],
    ['int("")', '"" is no whole number', 0],
    ['int("0x10")', '"0x10" is no whole number', 0],
    ['double("abc")', '"abc" is no number', 0],
    ['s.matches(t)', 'RE2 does not know this regular expression', 2, { s: '', t: '(' }],
    ['l.all(e, e.ok)', 'field not found: ok', 11, { l: [{}] }],
    ['s.all(e, true)', 'type mismatch: iterable vs string', 2, { s: 'abc' }],
    ['l[1.5]', 'index 1.5 out of bounds', 0, { l: [1, 2] }],
  ])('%s', (text, message, offset, variables = {}) => {
    expect(failure(() => value(text, variables))).toEqual({ message, offset });
  });

  it('is no answer to a question: anything but a boolean is an error', () => {
    expect(evaluateCondition(compiled('n > 1'), { n: 2 })).toBe(true);
    for (const text of ['n', "'false'", 'null', 'x.y'])
      expect(() => evaluateCondition(compiled(text), { n: 0, x: {} })).toThrow(ExpressionError);
  });

  it('is no point in time', () => {
    const now = new Date('2026-03-01T10:00:00.250Z');
    expect(evaluatePointInTime(compiled('now + duration("1h")'), { now })).toEqual(
      new Date('2026-03-01T11:00:00.250Z'),
    );
    expect(failure(() => evaluatePointInTime(compiled('string(now)'), { now })).message).toBe('this is no timestamp');
  });
});

describe('variables', () => {
  it('are made when they are asked for, member by member, once', () => {
    const asked: string[] = [];
    const node = (id: string) =>
      new Members(new Set(['text', 'data']), (field) => {
        asked.push(`${id}.${field}`);
        return field === 'text' ? id : { id };
      });
    const nodes = new Members(new Set(['one', 'two', 'three']), node);
    const vocabulary = { nodes: {}, iteration: {}, unused: {} };
    const expression = compiled("iteration > 1.0 ? nodes.one.data : nodes.two.text + nodes['two'].text", vocabulary);
    const unused = () => {
      throw new Error('nobody asked');
    };
    expect(evaluateExpression(expression, { nodes, iteration: () => 1, unused })).toBe('twotwo');
    expect(asked).toEqual(['two.text']);
    expect(evaluateExpression(compiled('nodes.three', vocabulary), { nodes })).toEqual({
      text: 'three',
      data: { id: 'three' },
    });
  });

  it('that cannot be made are no fault of the expression', () => {
    const nodes = new Members(new Set(['one']), () => {
      throw new Error('the database is away');
    });
    for (const text of ['nodes.one.text', 'nodes.one.text == 1 || true', 'has(nodes.one.text)'])
      expect(() => evaluateExpression(compiled(text, { nodes: {} }), { nodes })).toThrow('the database is away');
    const away = () => {
      throw new Error('the database is away');
    };
    expect(() => evaluateExpression(compiled('x == 1 || true'), { x: away })).toThrow('the database is away');
  });

  it('may need an expression themselves', () => {
    const inner = compiled('n + 1');
    expect(value('x * x', { x: () => evaluateExpression(inner, { n: 2 }) })).toBe(9);
  });
});
