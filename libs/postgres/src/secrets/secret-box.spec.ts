import { randomBytes } from 'node:crypto';
import { SecretBox, UnreadableSecret } from './secret-box.js';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const place = ['credential', 'tenant', 'name'];

describe('SecretBox', () => {
  it('opens what it sealed, and never seals the same twice', () => {
    const box = new SecretBox([oldKey]);
    const secret = 'grüße, and more than chance puts together';
    const sealed = [box.seal(secret, place), box.seal(secret, place)];
    expect(sealed.map((it) => box.open(it, place))).toEqual([secret, secret]);
    expect(sealed[0]).not.toBe(sealed[1]);
    const shown = Buffer.from(secret.slice(0, 12)).toString('base64url');
    for (const plain of [secret.slice(-12), shown]) expect(sealed[0]).not.toContain(plain);
  });

  it('seals with the first key and opens with all', () => {
    const before = new SecretBox([oldKey]);
    const both = new SecretBox([newKey, oldKey]);
    const sealed = before.seal('secret', place);
    expect(both.open(sealed, place)).toBe('secret');
    expect([before, both].map(({ mark }) => sealed.startsWith(mark))).toEqual([true, false]);
    const again = both.seal('secret', place);
    expect(new SecretBox([newKey]).open(again, place)).toBe('secret');
    expect(() => before.open(again, place)).toThrow(UnreadableSecret);
  });

  it.each([
    ['another place', (sealed: string) => sealed, ['credential', 'tenant', 'other']],
    ['a place that reads the same', (sealed: string) => sealed, ['credential', 'tenantname', '']],
    ['a changed text', (sealed: string) => sealed.slice(0, -4) + (sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA'), place],
    ['a short text', (sealed: string) => sealed.slice(0, 24), place],
    ['another form', (sealed: string) => `2${sealed.slice(1)}`, place],
    ['a plain text', () => 'secret', place],
  ])('refuses %s', (_what, change, at) => {
    const box = new SecretBox([oldKey]);
    expect(() => box.open(change(box.seal('secret', place)), at)).toThrow(UnreadableSecret);
  });

  it('takes no key of another length', () => {
    expect(() => new SecretBox([randomBytes(16)])).toThrow(RangeError);
    expect(() => new SecretBox([])).toThrow(RangeError);
  });
});
