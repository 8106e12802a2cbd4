import { durationFault } from './durations.js';

describe('durationFault', () => {
  it.each(['', '500ms', '1.5s', '2m', '48h', '7d'])('finds nothing wrong with "%s"', (text) =>
    expect(durationFault(text)).toBeUndefined(),
  );

  it.each(['5', 's', '-1s', '1 h', '1w', '${item}'])('says how to write "%s"', (text) =>
    expect(durationFault(text)).toContain('such as 30s'),
  );

  it('takes an expression where one may stand', () => expect(durationFault('${item}', true)).toBeUndefined());
});
