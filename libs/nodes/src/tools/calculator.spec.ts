import fc from 'fast-check';
import { runInNewContext } from 'node:vm';
import { ArithmeticError, evaluateArithmetic } from './built-in-tools.js';

describe('evaluate', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['8 - 3 - 2', 3],
    ['100 / 10 / 2', 5],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ** 2', -4],
    ['2 ** -1', 0.5],
    ['7 % 4', 3],
    ['--3', 3],
    ['.5 + 1e3', 1000.5],
    ['  42  ', 42],
  ])('%s is %d', (expression, value) => expect(evaluateArithmetic(expression)).toBe(value));

  it.each(['', '1 +', '(1', '1)', '1 2', 'process.exit()', 'a', '1 / 0', '2 ^ 9999', '"', '1'.repeat(1001)])(
    'refuses %s',
    (expression) => expect(() => evaluateArithmetic(expression)).toThrow(ArithmeticError),
  );

  it('agrees with JavaScript on sums and products', () => {
    const operands = fc.array(fc.tuple(fc.constantFrom('+', '-', '*'), fc.integer({ min: 0, max: 999 })), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), operands, (first, rest) => {
        const expression = [first, ...rest.flat()].join(' ');
        expect(evaluateArithmetic(expression)).toBe(Number(runInNewContext(expression)));
      }),
    );
  });

  it('ends quickly on deep and odd input', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('(', ')', '1', '+', '-', '*', '.', 'e', ' '), maxLength: 300 }),
        (expression) => {
          try {
            expect(Number.isFinite(evaluateArithmetic(expression))).toBe(true);
          } catch (error) {
            expect(error).toBeInstanceOf(ArithmeticError);
          }
        },
      ),
    );
  });
});
