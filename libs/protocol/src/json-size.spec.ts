import fc from 'fast-check';
import { hasMoreCharacters } from './json.js';

describe('hasMoreCharacters', () => {
  it('never says more of a value than its JSON has', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hasMoreCharacters(value, JSON.stringify(value).length)).toBe(false);
      }),
    );
  });

  it('knows of long texts and names, of many members, and of what is nested deep', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    for (const value of ['x'.repeat(1_001), { ['n'.repeat(1_001)]: 1 }, Array.from({ length: 1_001 }), deep])
      expect(hasMoreCharacters(value, 1_000)).toBe(true);
  });

  it('counts no member that JSON leaves out', () => {
    expect(hasMoreCharacters({ ['n'.repeat(1_001)]: undefined }, 1_000)).toBe(false);
  });
});
