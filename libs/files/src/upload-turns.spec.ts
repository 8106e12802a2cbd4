import { Metrics } from '#libs/service';
import { UploadTurns } from './upload-turns.js';

describe('UploadTurns', () => {
  let turns: UploadTurns;
  beforeEach(() => {
    turns = new UploadTurns(new Metrics());
  });

  it('lets four uploads of a caller be under way, and those of others beside them', () => {
    const ann = { caller: 'ann', tenant: '' };
    const leave = [1, 2, 3, 4].map(() => turns.enter(ann));
    expect(() => turns.enter(ann)).toThrow(expect.objectContaining({ status: 429 }));
    turns.enter({ caller: 'ben', tenant: '' })();
    leave[0]!();
    leave.push(turns.enter(ann));
    expect(() => turns.enter(ann)).toThrow(/4 uploads of yours/);
  });

  it('refuses a tenant with 429 before it has all turns, and everybody with 503 once the process has none', () => {
    const of = (tenant: string) => (index: number) => turns.enter({ caller: `${tenant}-${index}`, tenant });
    const turnsOf = (count: number, tenant: string): void =>
      Array.from({ length: count }, (_, i) => i).forEach(of(tenant));
    turnsOf(48, 'acme');
    expect(() => of('acme')(99)).toThrow(expect.objectContaining({ status: 429 }));
    turnsOf(16, '');
    expect(() => of('other')(0)).toThrow(expect.objectContaining({ status: 503 }));
  });
});
