import { applyLimit, type LimitedWork, type StoredLimit } from './limit.js';

const WORK: LimitedWork = { kind: 'workflows', name: 'report', tenant: 'acme', owner: 'ann' };

function limit(members: Partial<StoredLimit>): StoredLimit {
  const at = new Date(0);
  return {
    tenant: 'acme',
    name: 'one',
    target: 'workflows/*',
    concurrency: 1,
    createdAt: at,
    updatedAt: at,
    ...members,
  };
}

const gateOf = (members: Partial<StoredLimit>, work: Partial<LimitedWork> = {}) =>
  applyLimit(limit(members), { ...WORK, ...work })?.gate;

describe('A limit', () => {
  it.each([
    [{ target: 'workflows/report' }, true],
    [{ target: 'workflows/*' }, true],
    [{ target: 'caller' }, true],
    [{ target: 'workflows/other' }, false],
    [{ tenant: 'other' }, false],
    [{ tenant: '', allTenants: true }, true],
    [{ tenant: '' }, false],
  ])('%j matches a run of "report" in the tenant "acme": %s', (members, matches) => {
    expect(gateOf(members) !== undefined).toBe(matches);
  });

  it('is shared by all that it matches, unless it is divided', () => {
    const other = { name: 'other', owner: 'eve' };
    expect(gateOf({}, other)).toBe(gateOf({}));
    expect(gateOf({ per: 'target' }, other)).not.toBe(gateOf({ per: 'target' }));
    expect(gateOf({ per: 'target' }, { owner: 'eve' })).toBe(gateOf({ per: 'target' }));
    expect(gateOf({ per: 'caller' }, { name: 'other' })).toBe(gateOf({ per: 'caller' }));
    expect(gateOf({ per: 'caller' }, other)).not.toBe(gateOf({ per: 'caller' }));
    expect(gateOf({ target: 'caller' }, other)).not.toBe(gateOf({ target: 'caller' }));
  });

  it('of all tenants is one for all of them, or one for each', () => {
    const all = { tenant: '', allTenants: true };
    expect(gateOf(all, { tenant: 'other' })).toBe(gateOf(all));
    expect(gateOf({ ...all, per: 'tenant' }, { tenant: 'other' })).not.toBe(gateOf({ ...all, per: 'tenant' }));
    expect(gateOf({ ...all, per: 'target' }, { tenant: 'other' })).not.toBe(gateOf({ ...all, per: 'target' }));
  });
});
