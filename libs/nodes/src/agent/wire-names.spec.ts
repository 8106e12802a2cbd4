import { WireNames } from './agent-tools.js';

/** Returns the wire names of tools. Asserts that each name is valid, and that its tool is found by it. */
function named(...tools: string[]): string[] {
  const wire = new WireNames(tools);
  const names = tools.map((tool) => wire.toWireName(tool));
  expect(names.map((name) => wire.findByWireName(name))).toEqual(tools);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  return names;
}

describe('the names of tools on the wire of a model', () => {
  it.each([
    ['current_time', 'current_time'],
    ['github/search_code', 'github__search_code'],
    ['github/repo.search/all', 'github__repo_search_all'],
    ['agent:poet', 'agent__poet'],
    ['agent:a.example:8080/b', 'agent__a_example_8080_b'],
  ])('%s is %s', (tool, name) => {
    expect(named(tool)).toEqual([name]);
    expect(new WireNames([]).toWireName(tool)).toBe(name);
  });

  it('tell long names apart that begin alike', () => {
    const long = `server/${'x'.repeat(60)}`;
    const names = named(`${long}_read`, `${long}_write`);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^server__x+_[0-9a-f]{8}$/);
    expect(names.map(({ length }) => length)).toEqual([64, 64]);
  });

  it.each([
    ['of one server', 'dots/item.delete', 'dots/item_delete'],
    ['of two servers', 'git/hub__push', 'git__hub/push'],
    ['a built-in one and one of a server', 'git__push', 'git/push'],
  ])('tell tools apart that would be called the same: %s', (_, first, second) => {
    const [one, other, third] = named(first, second, 'dots/other');
    const shared = new WireNames([]).toWireName(first);
    expect([one, other]).toEqual(
      [first, second].map(() => expect.stringMatching(new RegExp(`^${shared}_[0-9a-f]{8}$`))),
    );
    expect(one).not.toBe(other);
    expect(third).toBe('dots__other');
    // Another process derives the same names, and a name that both tools would share finds neither.
    expect(named(second, 'dots/other', first)).toEqual([other, third, one]);
    expect(new WireNames([first, second]).findByWireName(shared)).toBeUndefined();
  });

  it('are taken by no other tool that is called as they end', () => {
    const [victim] = named('git__hub/push', 'git/hub__push');
    const taker = victim!.replace('git__', 'git/');
    const names = named('git__hub/push', 'git/hub__push', taker);
    expect(new Set(names).size).toBe(3);
    expect(names).not.toContain(victim);
  });

  it('may be said as the tool is called elsewhere', () => {
    const wire = new WireNames(['dots/item.delete', 'dots/item_delete']);
    expect(wire.findByWireName('dots/item.delete')).toBe('dots/item.delete');
    expect(wire.findByWireName('dots/nothing')).toBeUndefined();
  });
});
