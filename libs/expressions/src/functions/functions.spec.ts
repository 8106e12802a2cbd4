import { compileExpression, evaluateExpression, type Variables } from '../expression.js';
import { ExpressionError, InvalidExpression } from '../expression-error.js';

function value(text: string, variables: Variables = {}) {
  const expression = compileExpression(text, { s: {}, t: {}, l: {} });
  if (expression instanceof InvalidExpression) throw expression;
  return evaluateExpression(expression, variables);
}

describe('texts', () => {
  it.each<[string, unknown]>([
    ["size('a😀é')", 3],
    ["'a😀é'.size()", 3],
    ["'a😀é'.charAt(1)", '😀'],
    ["'a😀é'.charAt(3)", ''],
    ["'a😀é'.substring(2)", 'é'],
    ["'a😀é'.substring(1, 2)", '😀'],
    ["'a😀éa'.indexOf('é')", 2],
    ["'a😀éa'.indexOf('a', 1)", 3],
    ["'a😀éa'.indexOf('x')", -1],
    ["'a😀éa'.lastIndexOf('a')", 3],
    ["'a😀éa'.lastIndexOf('a', 2)", 0],
    ["'aaa'.lastIndexOf('aa')", 1],
    ["'AbC é'.lowerAscii() + 'aBc É'.upperAscii()", 'abc éABC É'],
    ["' a\\n'.trim()", 'a'],
    ["'a b c'.split(' ')", ['a', 'b', 'c']],
    ["'a b c'.split(' ', 2)", ['a', 'b c']],
    ["'a b c'.split(' ', 0)", []],
    ["'a b'.split(' ', 1)", ['a b']],
    ["''.split(' ')", ['']],
    ["'a😀'.split('')", ['a', '😀']],
    ["'a-b-c'.replace('-', '+')", 'a+b+c'],
    ["'a-b-c'.replace('-', '+', 1)", 'a+b-c'],
    ["'a-b-c'.replace('-', '+', 0)", 'a-b-c'],
    ["'abc'.replace('b', '$&')", 'a$&c'],
    ["['a', 'b'].join('-') + ['a', 'b'].join()", 'a-bab'],
    [
      '"\\a\\b\\f\\n\\r\\t\\v\\\\\\"\\\'\\`\\?" == \'\\x07\\X08\\014\\u000a\\U0000000D\t\\x0b\\x5c\\x22\\x27\\x60?\'',
      true,
    ],
    ["'\\\\q' + '''\\U0001F600''' + r'\\q\\x' + string(br'\\u00'.size())", '\\q😀\\q\\x4'],
    ["b'\\xff\\377'.size()", 2],
    ["'\uFFFF' < '😀' && '\uE000' <= '😀' && !('😀' < '\uE000')", true],
    ["'😀' > '\uFFFF' && '😀' >= '\uE000' && '😀' < '😁' && '😀' > '\uD7FF'", true],
    ["'a' < 'ab' && 'ab' > 'a' && 'a' <= 'a' && 'a' >= 'a' && '' < 'a' && !('a' < 'a') && 'B' < 'a'", true],
    ["'abc'.contains('bc') && 'abc'.startsWith('a') && 'abc'.endsWith('c')", true],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it.each(["'abc'.charAt(4)", "'abc'.substring(-1)", "'abc'.substring(2, 1)", "'a'.replace('', 'b')", '[1].join()'])(
    'refuses %s',
    (text) => {
      expect(() => value(text)).toThrow(ExpressionError);
    },
  );

  it('finds long texts in texts where a search would begin anew at every place', () => {
    const t = `${'a'.repeat(500)}b${'a'.repeat(500)}`;
    const s = `${'a'.repeat(5_000)}b${'a'.repeat(700)}b${'a'.repeat(499)}`;
    expect(value('[s.indexOf(t), s.lastIndexOf(t), size(s.split(t))]', { s, t })).toEqual([4_500, 4_500, 2]);
    expect(value("s.contains(t) && !s.contains(t + 'c') && !s.contains('c' + t)", { s, t })).toBe(true);
  });
});

describe('numbers of texts', () => {
  it.each<[string, unknown]>([
    ["int('-12')", -12],
    ["int('+12')", 12],
    ["uint('12')", 12],
    ["double('1.5e3')", 1_500],
    ["double('-.5')", -0.5],
    ['int(1.9)', 1],
    ['int(timestamp(90))', 90],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it.each([
    "int('')",
    "int(' 1')",
    "int('0x1')",
    "int('9223372036854775808')",
    "uint('-1')",
    "double('')",
    "double('NaN')",
  ])('refuses %s', (text) => {
    expect(() => value(text)).toThrow(ExpressionError);
  });
});

describe('times', () => {
  const summer = "timestamp('2026-03-29T02:30:15.250Z')";
  it.each<[string, unknown]>([
    [`${summer}.getHours()`, 2],
    [`${summer}.getHours('UTC')`, 2],
    [`${summer}.getHours('Europe/Berlin')`, 4],
    ["timestamp('2026-03-29T00:30:00Z').getHours('Europe/Berlin')", 1],
    [`${summer}.getMinutes('+05:30')`, 0],
    [`${summer}.getHours('-03:00')`, 23],
    [`${summer}.getDate('-03:00')`, 28],
    [`${summer}.getMilliseconds()`, 250],
    [`${summer}.getSeconds('America/New_York')`, 15],
    [`${summer}.getFullYear()`, 2026],
    [`${summer}.getMonth()`, 2],
    [`${summer}.getDayOfMonth()`, 28],
    [`${summer}.getDayOfWeek()`, 0],
    [`${summer}.getDayOfYear()`, 87],
    ["timestamp('0050-06-01T00:00:00Z').getFullYear('UTC')", 50],
    ["timestamp('2026-01-01T00:00:00.123456789+02:00')", '2025-12-31T22:00:00.123456789Z'],
    ["timestamp('1969-12-31T23:59:59.5Z')", '1969-12-31T23:59:59.500Z'],
    ["timestamp('0001-01-01T00:00:00Z') < timestamp('9999-12-31T23:59:59.999999999Z')", true],
    ["timestamp('2024-02-29T00:00:00Z') - timestamp('2024-02-28T00:00:00Z')", '86400s'],
    ['timestamp(0)', '1970-01-01T00:00:00Z'],
    ['timestamp(1767225600)', '2026-01-01T00:00:00Z'],
    [`${summer} - timestamp('2026-03-29T02:30:00Z')`, '15.250s'],
    ["duration('1h') == duration('60m') && duration('1h') != duration('61m')", true],
    [`${summer} > timestamp('2026-03-29T02:30:15Z')`, true],
    ["duration('90m').getHours()", 1],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  it.each([
    "timestamp('tomorrow')",
    "duration('1 day')",
    `${summer}.getHours('Nowhere/Land')`,
    'timestamp(999999999999)',
  ])('refuses %s', (text) => {
    expect(() => value(text)).toThrow(ExpressionError);
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '2026-04-31T12:00:00+02:00',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '2026-01-01',
    'tomorrow',
  ])('takes %s for no other time, and says so', (time) => {
    const read = (text: string) => () => value(text, { s: time });
    for (const text of ['timestamp(s)', `timestamp('${time}')`]) {
      expect(read(text)).toThrow(ExpressionError);
      expect(read(text)).toThrow(`"${time}" is no time, as 2026-01-31T12:00:00Z is one`);
    }
  });
});
