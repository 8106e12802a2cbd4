import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../test/support/any-character.js';
import { CallerSeal } from './authentication.js';
import { type Caller, PERMISSIONS } from './caller.js';

const SECRET = Buffer.alloc(32, 1);
const seals = new CallerSeal(SECRET);
const ann: Caller = { tenant: 't', owner: 'ann', permissions: new Set(['agents']) };

describe('CallerSeal', () => {
  it('gives the caller back, whatever his name', () => {
    const names = fc.string({ unit: ANY_CHARACTER, maxLength: 50 });
    fc.assert(
      fc.property(names, names, fc.subarray([...PERMISSIONS]), (tenant, owner, permissions) => {
        const caller = { tenant, owner, permissions: new Set(permissions) };
        const seal = seals.sealCaller(caller, 10);
        // RFC 9110, section 5.6.2: it is a part of a header.
        expect(seal).toMatch(/^[\w.-]+$/);
        expect(seals.openSeal(seal, 9)).toEqual(caller);
      }),
    );
  });

  it('ends, and needs the secret', () => {
    const seal = seals.sealCaller(ann, 10);
    expect(seals.openSeal(seal, 9)).toEqual(ann);
    expect(seals.openSeal(seal, 10)).toBeUndefined();
    expect(new CallerSeal(Buffer.alloc(32, 2)).openSeal(seal, 9)).toBeUndefined();
  });

  it('says nothing of what the access of a caller hangs on', () => {
    const keyed: Caller = { ...ann, proof: { key: 'digest-of-a-key', endsAt: 5 } };
    const [content = ''] = seals.sealCaller(keyed, 10).split('.');
    expect(JSON.parse(Buffer.from(content, 'base64url').toString())).toEqual({
      t: 't',
      o: 'ann',
      p: ['agents'],
      e: 10,
    });
  });

  it('takes nothing that was changed, cut or made up', () => {
    const seal = seals.sealCaller(ann, 10);
    const forged = Buffer.from(JSON.stringify({ t: 't', o: 'eve', p: ['admin'], e: 10 })).toString('base64url');
    const signature = seal.split('.')[1]!;
    for (const text of [
      '',
      '.',
      seal.slice(1),
      seal.slice(0, -2),
      `${seal}.`,
      `${forged}.${signature}`,
      `${forged}.`,
    ]) {
      expect(seals.openSeal(text, 9)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => seals.openSeal(text, 0) === undefined));
  });
});
