import { findSimilarName, nameHint } from './similar-name.js';

describe('findSimilarName', () => {
  it.each([
    ['inptu', ['input', 'output'], 'input'],
    ['promt', ['tools', 'prompt'], 'prompt'],
    ['Agent', ['agent'], 'agent'],
    ['maxstep', ['maxSteps', 'maxTokens'], 'maxSteps'],
    ['workfow', ['workflow'], 'workflow'],
    ['drfat', ['draft', 'draft2'], 'draft'],
    ['A', ['a'], 'a'],
  ])('finds for %s among %j the name %s', (typed, known, expected) => {
    expect(findSimilarName(typed, known)).toBe(expected);
  });

  it.each([
    ['c', ['a', 'b']],
    ['ab', ['ac', 'b']],
    ['tool', ['agent', 'human']],
    ['abc', ['xyz']],
    ['input', ['input']],
    ['', ['a']],
    ['x'.repeat(65), ['x'.repeat(64)]],
    ['toString', []],
  ])('finds nothing for %s among %j', (typed, known) => {
    expect(findSimilarName(typed, known)).toBeUndefined();
  });

  it('prefers the nearer name, and compares a bounded number of names', () => {
    expect(findSimilarName('summry', ['summaries', 'summary'])).toBe('summary');
    const many = Array.from({ length: 1_000 }, (_, index) => `other-${index}`);
    expect(findSimilarName('summry', [...many, 'summary'])).toBeUndefined();
  });
});

it('nameHint makes the end of a message', () => {
  expect([nameHint('inptu', ['input']), nameHint('x', ['input'])]).toEqual(['; did you mean "input"?', '']);
});
