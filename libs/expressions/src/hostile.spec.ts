import fc from 'fast-check';
import { compileExpression, evaluateExpression } from './expression.js';
import { ExpressionError, InvalidExpression } from './expression-error.js';
import { compileTemplate } from './template.js';

const VOCABULARY = Object.fromEntries(['s', 't', 'l', 'k', 'm', 'd', 'big', 'x', 'n'].map((it) => [it, {}]));
const LONG = 'a'.repeat(1_048_576);
const VARIABLES = {
  s: LONG,
  t: `${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`,
  l: Array.from({ length: 10_000 }, (_, index) => index),
  k: Array.from({ length: 1_001 }, (_, index) => index),
  m: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index])),
  d: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)),
  big: Array.from({ length: 10_000 }, (_, id) => ({ id, text: 'x'.repeat(100), tags: ['a', { c: id }] })),
  x: `c9bxy${'ab'.repeat(100_000)}`,
  n: `${'1'.repeat(1_048_575)}x`,
};

function outcome(text: string): string {
  const expression = compileExpression(text, VOCABULARY);
  if (expression instanceof InvalidExpression) throw expression;
  try {
    return JSON.stringify(evaluateExpression(expression, VARIABLES)).slice(0, 50);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

const STEPS = 'it takes too many steps';
const VISITS = 'it goes through more than 100000 elements';
const TEXT = 'it makes a text of more than 1048576 characters';
const bush = (levels: number) => `[[l]]${'.map(a,[a,a,a,a,a,a,a,a,a,a])'.repeat(levels)}`;

// Without counted steps, each of these took seconds to minutes, or more memory than available.
describe('an expression that would take long', () => {
  it.each<[string, string]>([
    ['l.all(a, l.all(b, a >= 0))', VISITS],
    ['k.all(a, k.all(b, a >= 0))', VISITS],
    ['l.map(a, l + l)', STEPS],
    [`[t]${'.map(a, a + a)'.repeat(15)}`, TEXT],
    ['k.map(a, s + string(a))', TEXT],
    [`${bush(8)} == ${bush(8)}`, STEPS],
    [bush(8), 'its result has more than 1048576 bytes'],
    ['[big, big]', 'its result has more than 1048576 bytes'],
    ['s.contains(t)', 'false'],
    ['l.all(a, s.contains(t) || true)', STEPS],
    ['l.all(a, s.lastIndexOf("b") < 0)', STEPS],
    ['t.replace("a", "bbb")', STEPS],
    ['l.map(a, s.split("a"))', STEPS],
    ['l.all(a, size(s) > 0)', STEPS],
    ['s.matches("^(a+)+$")', STEPS],
    ['t.matches("^(a+)+$")', 'false'],
    ['x.matches("(a|b)*a(a|b){490}c")', STEPS],
    ['k.all(a, "x".matches("a{" + string(a) + "}") || true)', STEPS],
    ['s.matches(s)', 'a regular expression has at most 1000 characters'],
    ['l.all(a, m.size() > 0)', STEPS],
    ['k.all(a, big == big)', STEPS],
    ['l.all(a, a in l)', STEPS],
    ['double(n)', `"${'1'.repeat(50)}…" is no number`],
    ['d == d', 'values nested deeper than 500 are not compared'],
    ['[d]', 'a result is nested at most 500 deep'],
    ['l.all(a, parseJson(s) == 1)', STEPS],
    ['l.all(a, bytes(s).size() > 0)', STEPS],
    ['k.filter(a, a < 1000.0).all(a, k.filter(b, b < 1000.0).all(c, 1 / 0 > 0) || true)', STEPS],
    ['l.all(a, l.all(b, true)) || true', VISITS],
  ])('%s', (text, expected) => {
    expect(outcome(text)).toBe(expected);
  });
});

const atom = fc.constantFrom(
  's',
  't',
  'l',
  'k',
  'm',
  'd',
  'x',
  '1',
  '2u',
  '0.5',
  "''",
  "'a'",
  'null',
  'true',
  'e',
  '[]',
  '{}',
  "b'x'",
  '-9223372036854775808',
  "timestamp('2026-01-01T00:00:00Z')",
  "duration('1h')",
);
const operator = fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in');
const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  return {
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atom,
      fc.tuple(inner, operator, inner).map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc
        .tuple(inner, fc.constantFrom('map', 'filter', 'all', 'exists', 'exists_one'), inner)
        .map(([a, macro, b]) => `${a}.${macro}(e, ${b})`),
      fc
        .tuple(fc.constantFrom('size', 'string', 'int', 'double', 'type', 'bytes', 'parseJson', '!', '-'), inner)
        .map(([f, a]) => `${f}(${a})`),
      fc
        .tuple(
          inner,
          fc.constantFrom('contains', 'matches', 'split', 'join', 'indexOf', 'lastIndexOf', 'startsWith'),
          inner,
        )
        .map(([a, f, b]) => `${a}.${f}(${b})`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `${a}.replace(${b}, ${c})`),
      fc.tuple(inner, inner).map(([a, b]) => `${a}[${b}]`),
      fc.tuple(inner, inner).map(([a, b]) => `get(${a}, 'k1.0', ${b})`),
      fc.tuple(inner, inner).map(([a, b]) => `[${a}, ${b}]`),
      fc.tuple(inner, inner).map(([a, b]) => `{'a': ${a}, 'b': ${b}}`),
    ),
  };
});

describe('any expression', () => {
  const variables = {
    ...VARIABLES,
    s: 'aXb 1',
    t: '[1]',
    l: [1, 'a', null, [2]],
    k: [1, 2, 3],
    m: { k1: [1], a: null },
    d: [[[]]],
  };
  const run = (text: string): unknown => {
    const compiled = compileExpression(text, VOCABULARY);
    if (compiled instanceof InvalidExpression) return [compiled.message, compiled.offset];
    try {
      return evaluateExpression(compiled, { ...variables, x: 1.5 });
    } catch (error) {
      if (error instanceof ExpressionError) return [error.message, error.offset];
      throw error;
    }
  };

  it('has a value, the same each time, or an error that says where', () => {
    fc.assert(
      fc.property(expression, (text) => {
        expect(run(text)).toEqual(run(text));
      }),
      { numRuns: 500 },
    );
  });

  it('is read or refused, whatever its text is', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...'()[]{}\'"\\.,:?!&|+-*/%<>= \n$',
        'r"',
        "'''",
        '//',
        '${',
        'map(a,',
        '0x',
        '1e',
        '😀',
        '\ud800',
        'in',
      ),
      atom,
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }).map((it) => it.join('')),
        (text) => {
          const compiled = compileExpression(text, VOCABULARY);
          if (compiled instanceof InvalidExpression) expect(compiled.offset).toBeLessThanOrEqual(text.length);
          expect(() => compileTemplate(text, VOCABULARY)).not.toThrow();
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
