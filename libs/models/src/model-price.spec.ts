import { costOf, isTokenCount, usageOf } from './model-price.js';

const PRICE = { input: '0.15', output: '0.6' };

it.each([
  [{ inputTokens: 1_000_000, outputTokens: 0 }, PRICE, '0.15'],
  [{ inputTokens: 1, outputTokens: 0 }, PRICE, '0.00000015'],
  [{ inputTokens: 3, outputTokens: 7 }, PRICE, '0.00000465'],
  [{ inputTokens: 0, outputTokens: 0 }, PRICE, '0'],
  [{ inputTokens: 1, outputTokens: 1 }, { input: '0.000001', output: '0' }, '0.000000000001'],
  [{ inputTokens: 1e9, outputTokens: 1e9 }, { input: '9999999.999999', output: '9999999.999999' }, '19999999999.998'],
  [{ inputTokens: 20_000_000, outputTokens: 0 }, { input: '5', output: '1' }, '100'],
])('computes the cost of %j at %j exactly', (usage, price, cost) => {
  expect(costOf(usage, price)).toBe(cost);
});

it('prices cached input tokens as a part of the input tokens', () => {
  const usage = { inputTokens: 1_000, outputTokens: 0, cachedInputTokens: 900, reasoningTokens: 0 };
  expect(costOf(usage, { ...PRICE, cachedInput: '0.015' })).toBe('0.0000285');
  expect(costOf(usage, PRICE)).toBe('0.00015');
});

it('prices tokens written to a cache at their own price, or at 1.25 times the price of input', () => {
  const usage = { inputTokens: 1_000, outputTokens: 0, cachedInputTokens: 500, cacheWriteInputTokens: 400 };
  expect(costOf(usage, { ...PRICE, cachedInput: '0.015', cacheWrite: '0.3' })).toBe('0.0001425');
  expect(costOf(usage, { ...PRICE, cachedInput: '0.015' })).toBe('0.0000975');
  expect(costOf({ ...usage, cacheWriteInputTokens: 1 }, { input: '0.000001', output: '0' })).toBe('0.000000001001');
});

it('ignores a number of written tokens that the input tokens cannot have', () => {
  const input = { total: 10, noCache: 0, cacheRead: 8, cacheWrite: 3 };
  const output = { total: 1, text: 1, reasoning: undefined };
  expect(usageOf({ inputTokens: input, outputTokens: output }, undefined)).toEqual({
    inputTokens: 10,
    outputTokens: 1,
    cachedInputTokens: 8,
  });
});

it.each([-1, 0.5, Number.NaN, Infinity, 1e12])('does not take %p for a number of tokens', (value) => {
  expect(isTokenCount(value)).toBe(false);
});
