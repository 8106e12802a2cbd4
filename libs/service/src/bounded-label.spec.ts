import { BoundedLabel } from './metrics.js';

describe('BoundedLabel', () => {
  it('keeps the first values, and calls the rest other', () => {
    const label = new BoundedLabel(2);
    expect(['a', 'b', 'c', 'a', 'd'].map((value) => label.boundValue(value))).toEqual([
      'a',
      'b',
      'other',
      'a',
      'other',
    ]);
  });
});
