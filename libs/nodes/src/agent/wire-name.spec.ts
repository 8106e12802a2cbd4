import { wireName } from './wire-name.js';

describe('wireName', () => {
  it.each([
    ['current_time', 'current_time'],
    ['github/search_code', 'github__search_code'],
    ['github/repo.search/all', 'github__repo_search_all'],
  ])('%s is %s', (tool, name) => expect(wireName(tool)).toBe(name));

  it('tells long names apart that begin alike', () => {
    const long = `server/${'x'.repeat(60)}`;
    const names = [`${long}_read`, `${long}_write`].map(wireName);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^server__x+_[0-9a-f]{8}$/);
    expect(names.map(({ length }) => length)).toEqual([64, 64]);
  });
});
