import { proposeName } from './workflow-name.js';

describe('proposeName', () => {
  it('replaces what a name cannot contain', () => {
    expect(proposeName('my first flow')).toBe('my-first-flow');
    expect(proposeName('  Größe: änderbar? ')).toBe('Grosse-anderbar');
    expect(proposeName('-draft-')).toBe('draft');
  });

  it('cuts a long name, and not behind a hyphen', () => {
    expect(proposeName('a'.repeat(65))).toBe('a'.repeat(64));
    expect(proposeName(`${'a'.repeat(63)} b`)).toBe('a'.repeat(63));
  });

  it('has a name where nothing is left', () => {
    expect([proposeName(''), proposeName('   '), proposeName('日本')]).toEqual([
      'my-workflow',
      'my-workflow',
      'my-workflow',
    ]);
  });

  it('counts on where another workflow has the name', () => {
    expect(proposeName('flow')).toBe('flow-2');
    expect(proposeName('flow-2')).toBe('flow-3');
    expect(proposeName('a'.repeat(64))).toBe(`${'a'.repeat(62)}-2`);
  });
});
