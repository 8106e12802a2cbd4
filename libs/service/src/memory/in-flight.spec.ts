import { Metrics } from '../metrics.js';
import { InFlight } from './in-flight.js';

const KIB = 1024;

function inFlight(inFlightBytes: number, callerInFlightBytes = inFlightBytes): InFlight {
  return new InFlight({ memory: { inFlightBytes, callerInFlightBytes } } as never, new Metrics());
}

const caller = (owner: string, tenant = ''): { tenant: string; owner: string } => ({ tenant, owner });

describe('InFlight', () => {
  it('counts what is let in until it is over', () => {
    const it = inFlight(1000 * KIB);
    const leave = it.admitRequest(caller('ann'), 100 * KIB);
    expect(it.total).toBe(100 * KIB);
    (leave as () => void)();
    expect(it.total).toBe(0);
  });

  it('refuses one caller before it refuses all', () => {
    const it = inFlight(8000 * KIB, 3200 * KIB);
    expect(it.admitRequest(caller('ann'), 300 * KIB)).toBeInstanceOf(Function);
    expect(it.admitRequest(caller('ann'), 300 * KIB)).toBe('caller');
    expect(it.admitRequest(caller('bob'), 300 * KIB)).toBeInstanceOf(Function);
    expect(it.admitRequest(caller('pat'), 300 * KIB)).toBeInstanceOf(Function);
    expect(it.admitRequest(caller('eve'), 300 * KIB)).toBe('service');
  });

  it.each([2, 20])('leaves other tenants their part, where %d callers of one tenant take what they can', (callers) => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    const names = Array.from({ length: callers }, (_, n) => caller(`owner${n}`, 'acme'));
    // They keep what they may, and then send what they can.
    for (const name of names) {
      while (it.findRefusal(InFlight.accountOf(name), 10 * KIB) === undefined)
        it.addBytes(InFlight.accountOf(name), 0, 10 * KIB);
    }
    expect(it.total).toBeLessThanOrEqual(6000 * KIB);
    for (const name of names) expect(it.admitRequest(name, 10 * KIB)).toMatch(/caller|tenant/);
    expect(it.admitRequest(caller('bob', 'other'), 10 * KIB)).toBeInstanceOf(Function);
    expect(it.admitRequest(caller('bob', 'other'), 400 * KIB)).toBeInstanceOf(Function);
  });

  it('leaves other tenants room on the way, however many callers of one tenant send', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    const refused = Array.from({ length: 20 }, (_, n) => it.admitRequest(caller(`owner${n}`, 'acme'), 150 * KIB));
    expect(refused.filter((each) => each === 'tenant').length).toBeGreaterThan(0);
    expect(it.admitRequest(caller('bob', 'other'), 150 * KIB)).toBeInstanceOf(Function);
  });

  it('limits no tenant where there is only one, and forgets one that has nothing in flight', () => {
    const one = inFlight(8000 * KIB, 4000 * KIB);
    one.addBytes(InFlight.accountOf(caller('ann')), 0, 4000 * KIB);
    one.addBytes(InFlight.accountOf(caller('bob')), 0, 3500 * KIB);
    expect(one.admitRequest(caller('eve'), 10 * KIB)).toBeInstanceOf(Function);
    const it = inFlight(8000 * KIB, 4000 * KIB);
    const leave = it.admitRequest(caller('ann', 'acme'), 700 * KIB) as () => void;
    expect(it.admitRequest(caller('bob', 'acme'), 100 * KIB)).toBe('tenant');
    leave();
    expect(it.admitRequest(caller('bob', 'acme'), 700 * KIB)).toBeInstanceOf(Function);
  });

  it('leaves room for small requests of others, whatever is on its way', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    expect(it.admitRequest(caller('ann'), 400 * KIB)).toBeInstanceOf(Function);
    // What Tasks make of it.
    it.addBytes(InFlight.accountOf(caller('ann')), 6000 * KIB);
    expect(it.admitRequest(caller('ann'), 2 * KIB)).toBe('caller');
    expect(it.admitRequest(caller('bob'), 2 * KIB)).toBeInstanceOf(Function);
    it.addBytes(InFlight.accountOf(caller('ann')), 12_000 * KIB);
    expect(it.admitRequest(caller('bob'), 2 * KIB)).toBeInstanceOf(Function);
    it.addBytes(InFlight.accountOf(caller('ann')), 6000 * KIB);
    expect(it.admitRequest(caller('bob'), 2 * KIB)).toBe('service');
  });

  it('refuses small requests, too, where Tasks keep as much as they may', () => {
    const it = inFlight(8000 * KIB);
    it.addBytes(InFlight.accountOf(caller('ann')), 0, 8000 * KIB);
    expect(it.admitRequest(caller('bob'), 1 * KIB)).toBe('service');
  });

  it('leaves room for large requests of others, however many small ones somebody sends', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    while (it.admitRequest(caller('mallory'), 64 * KIB) instanceof Function);
    expect(it.admitRequest(caller('bob'), 400 * KIB)).toBeInstanceOf(Function);
  });

  it('leaves room for large requests of others, however much somebody keeps', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    it.addBytes(InFlight.accountOf(caller('mallory')), 0, 4000 * KIB);
    expect(it.admitRequest(caller('mallory'), 1)).toBe('caller');
    expect(it.admitRequest(caller('bob'), 900 * KIB)).toBeInstanceOf(Function);
  });

  it('lets one request of any size in where nothing else is in flight', () => {
    const it = inFlight(10 * KIB, 5 * KIB);
    const leave = it.admitRequest(caller('ann'), 100 * KIB);
    expect(it.admitRequest(caller('bob'), 1)).toBe('service');
    (leave as () => void)();
    expect(it.admitRequest(caller('bob'), 1)).toBeInstanceOf(Function);
  });

  it('counts what was accepted, refuses none of it, and takes it back', () => {
    const it = inFlight(10 * KIB);
    const ann = InFlight.accountOf(caller('ann'));
    it.addBytes(ann, 50 * KIB, 5 * KIB);
    expect(it.total).toBe(55 * KIB);
    expect(it.findRefusal(ann, 1)).toBe('caller');
    it.addBytes(ann, -50 * KIB, -5 * KIB);
    expect([it.total, it.findRefusal(ann, 1)]).toEqual([0, undefined]);
  });

  it('does not take two callers for one, whatever is in their names', () => {
    const names = [caller('b', 'a'), caller('', 'ab'), caller('ab'), caller('1:ab'), caller('b', '1:a'), caller('\nb')];
    expect(new Set(names.map(InFlight.accountOf)).size).toBe(names.length);
  });
});
