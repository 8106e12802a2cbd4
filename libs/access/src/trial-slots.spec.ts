import { Metrics } from '#libs/service';
import { TrialSlots } from './trial-slots.js';

describe('TrialSlots', () => {
  const slots = (now: () => number = () => 0): TrialSlots =>
    new TrialSlots(new Metrics(), { plural: 'tests of models', limit: 'model-tests', metric: 'tried' }, now);
  const owner = (caller: string, tenant = 't') => ({ caller, tenant });

  it('gives a caller two slots, its tenant four and the process eight', () => {
    const all = slots();
    const frees = ['a', 'a', 'b', 'b'].map((it) => all.takeSlot(owner(it)));
    expect(() => all.takeSlot(owner('a'))).toThrow('A caller may have 2 tests of models at a time');
    expect(() => all.takeSlot(owner('c'))).toThrow('The callers of a tenant may have 4 tests of models at a time');
    for (const it of ['d', 'e', 'f', 'g']) all.takeSlot(owner(it, 'other'));
    expect(() => all.takeSlot(owner('h', 'third'))).toThrow('Too many tests of models are under way');
    frees[0]!();
    all.takeSlot(owner('a'));
  });

  it('gives a caller twenty tests a minute, and others theirs', () => {
    let now = 0;
    const all = slots(() => now);
    for (let count = 0; count < 20; count += 1) all.takeSlot(owner('a'))();
    expect(() => all.takeSlot(owner('a'))).toThrow('Too many tests of models in a minute');
    all.takeSlot(owner('b'))();
    now = 3_000;
    all.takeSlot(owner('a'))();
  });

  it('gives all callers of a process 120 tests a minute', () => {
    const all = slots();
    for (let count = 0; count < 120; count += 1) all.takeSlot(owner(`c${count}`, ''))();
    expect(() => all.takeSlot(owner('another', ''))).toThrow('Too many tests of models in a minute');
  });
});
