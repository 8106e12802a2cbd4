import { InFlight } from './in-flight.js';
import { Metrics } from '../metrics/metrics.js';

const KIB = 1024;

function inFlight(inFlightBytes: number, callerInFlightBytes = inFlightBytes): InFlight {
  return new InFlight({ memory: { inFlightBytes, callerInFlightBytes } } as never, new Metrics());
}

const caller = (owner: string, tenant = ''): { tenant: string; owner: string } => ({ tenant, owner });

describe('InFlight', () => {
  it('counts what is let in until it is over', () => {
    const it = inFlight(1000 * KIB);
    const leave = it.enter(caller('ann'), 100 * KIB);
    expect(it.total).toBe(100 * KIB);
    (leave as () => void)();
    expect(it.total).toBe(0);
  });

  it('refuses one caller before it refuses all', () => {
    const it = inFlight(8000 * KIB, 3200 * KIB);
    expect(it.enter(caller('ann'), 300 * KIB)).toBeInstanceOf(Function);
    expect(it.enter(caller('ann'), 300 * KIB)).toBe('caller');
    expect(it.enter(caller('bob'), 300 * KIB)).toBeInstanceOf(Function);
    expect(it.enter(caller('pat'), 300 * KIB)).toBeInstanceOf(Function);
    expect(it.enter(caller('eve'), 300 * KIB)).toBe('service');
  });

  it('leaves room for small requests of others, whatever is on its way', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    expect(it.enter(caller('ann'), 400 * KIB)).toBeInstanceOf(Function);
    // What Tasks make of it.
    it.add(InFlight.accountOf(caller('ann')), 6000 * KIB);
    expect(it.enter(caller('ann'), 2 * KIB)).toBe('caller');
    expect(it.enter(caller('bob'), 2 * KIB)).toBeInstanceOf(Function);
    it.add(InFlight.accountOf(caller('ann')), 12_000 * KIB);
    expect(it.enter(caller('bob'), 2 * KIB)).toBeInstanceOf(Function);
    it.add(InFlight.accountOf(caller('ann')), 6000 * KIB);
    expect(it.enter(caller('bob'), 2 * KIB)).toBe('service');
  });

  it('refuses small requests, too, where Tasks keep as much as they may', () => {
    const it = inFlight(8000 * KIB);
    it.add(InFlight.accountOf(caller('ann')), 0, 8000 * KIB);
    expect(it.enter(caller('bob'), 1 * KIB)).toBe('service');
  });

  it('leaves room for large requests of others, however many small ones somebody sends', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    while (it.enter(caller('mallory'), 64 * KIB) instanceof Function);
    expect(it.enter(caller('bob'), 400 * KIB)).toBeInstanceOf(Function);
  });

  it('leaves room for large requests of others, however much somebody keeps', () => {
    const it = inFlight(8000 * KIB, 4000 * KIB);
    it.add(InFlight.accountOf(caller('mallory')), 0, 4000 * KIB);
    expect(it.enter(caller('mallory'), 1)).toBe('caller');
    expect(it.enter(caller('bob'), 900 * KIB)).toBeInstanceOf(Function);
  });

  it('lets one request of any size in where nothing else is in flight', () => {
    const it = inFlight(10 * KIB, 5 * KIB);
    const leave = it.enter(caller('ann'), 100 * KIB);
    expect(it.enter(caller('bob'), 1)).toBe('service');
    (leave as () => void)();
    expect(it.enter(caller('bob'), 1)).toBeInstanceOf(Function);
  });

  it('counts what was accepted, refuses none of it, and takes it back', () => {
    const it = inFlight(10 * KIB);
    const ann = InFlight.accountOf(caller('ann'));
    it.add(ann, 50 * KIB, 5 * KIB);
    expect(it.total).toBe(55 * KIB);
    expect(it.refusal(ann, 1)).toBe('caller');
    it.add(ann, -50 * KIB, -5 * KIB);
    expect([it.total, it.refusal(ann, 1)]).toEqual([0, undefined]);
  });

  it('does not take two callers for one, whatever is in their names', () => {
    const names = [caller('b', 'a'), caller('', 'ab'), caller('ab'), caller('1:ab'), caller('b', '1:a'), caller('\nb')];
    expect(new Set(names.map(InFlight.accountOf)).size).toBe(names.length);
  });
});
