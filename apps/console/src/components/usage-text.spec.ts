import { costText, inputText, outputText, usageText } from './usage-text.js';

const none = { calls: 0, unreportedCalls: 0, unpricedCalls: 0 };

it('shows known tokens and costs', () => {
  const usage = { ...none, calls: 3, inputTokens: 1_200, outputTokens: 61, cost: '0.00121' };
  expect([inputText(usage), outputText(usage), costText(usage)]).toEqual(['1,200', '61', '$0.00121']);
  expect(costText({ ...usage, cost: '1234.5678' })).toBe('$1,234.57');
  expect(costText({ ...usage, cost: '0.000000123456' })).toBe('$0.0000001235');
  expect(usageText(usage)).toBe('3 calls of models');
});

it('shows unknown tokens and costs as unknown, never as 0', () => {
  const unknown = { calls: 1, unreportedCalls: 1, unpricedCalls: 1 };
  expect([inputText(unknown), outputText(unknown), costText(unknown)]).toEqual(Array(3).fill('unknown'));
  const partly = { ...unknown, calls: 2, inputTokens: 5, outputTokens: 1, cost: '0.5' };
  expect([inputText(partly), outputText(partly), costText(partly)]).toEqual([
    '5 + unknown',
    '1 + unknown',
    '$0.5 + unknown',
  ]);
  expect(usageText(partly)).toBe('2 calls of models: 1 without known tokens, 1 without a known cost');
  expect([inputText(none), costText(none)]).toEqual(['–', '–']);
});
