import { Ajv } from 'ajv';
import { InputSchema } from './input-schema.js';
import { withDecimalMultiples } from './multiple-of.js';

describe('multipleOf', () => {
  it.each<[number, number, boolean]>([
    [0.01, 19.99, true],
    [0.01, 0.07, true],
    [0.01, -19.99, true],
    [0.01, 123_456_789.01, true],
    [0.01, 12.5, true],
    [0.01, 0, true],
    [0.1, 0.3, true],
    [1e-8, 1e-7, true],
    [1e-7, 1e308, true],
    [2.5, 1e20, true],
    [5e-324, 1.5, true],
    [0.01, 1.001, false],
    [0.01, 19.995, false],
    [1e-7, 1e-8, false],
    [0.1, 0.30000000000000004, false],
    [3, 9, true],
    [3, 10, false],
    [3, 9.5, false],
    [3, 9_007_199_254_740_990, true],
    [3, 9_007_199_254_740_991, false],
  ])('%d of %d is %s', (multipleOf, value, isMultiple) => {
    const schema = { type: 'number', multipleOf };
    const faults = isMultiple ? [] : [{ path: '', detail: `must be multiple of ${multipleOf}` }];
    expect(InputSchema.fromJson(schema).faults(value)).toEqual(faults);
    const validate = withDecimalMultiples(new Ajv({ allErrors: true, strict: false })).compile(schema);
    expect(validate(value)).toBe(isMultiple);
  });
});
