import { StepBudget, type StepClock, type StepShare } from './work-budget.js';

/** Clock that a test advances. */
class ManualClock implements StepClock {
  time = 0;
  private readonly rings = new Set<{ at: number; ring: () => void }>();

  now(): number {
    return this.time;
  }

  callAfter(milliseconds: number, ring: () => void): () => void {
    const alarm = { at: this.time + Math.ceil(milliseconds), ring };
    this.rings.add(alarm);
    return () => this.rings.delete(alarm);
  }

  get pending(): number {
    return this.rings.size;
  }

  async pass(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    for (;;) {
      const [next] = [...this.rings].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at);
      if (!next) break;
      this.time = Math.max(this.time, next.at);
      this.rings.delete(next);
      next.ring();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.time = end;
  }
}

const NEVER = new AbortController().signal;

function steps(callerSteps = 1_000, processSteps = 2_000) {
  const clock = new ManualClock();
  return { clock, budget: new StepBudget({ callerSteps, processSteps }, clock) };
}

/** Uses `each` evaluation steps again and again, without end. Calls `done` after each use. */
async function evaluate(share: StepShare, each: number, done: () => void): Promise<never> {
  for (;;) {
    await share.whenPaid(NEVER);
    share.use(each);
    done();
  }
}

describe('StepBudget', () => {
  it('lets a second of steps be used at once, and waits for more in proportion', async () => {
    const { clock, budget } = steps();
    const share = budget.joinRun({ account: 'ann', root: 'r' });
    share.use(1_000);
    expect(share.isOwing).toBe(false);
    share.use(500);
    expect(share.isOwing).toBe(true);
    let isPaid = false;
    void share.whenPaid(NEVER).then(() => (isPaid = true));
    await clock.pass(499);
    expect(isPaid).toBe(false);
    await clock.pass(2);
    expect(isPaid).toBe(true);
  });

  it('counts the time that steps took, where they took long', () => {
    const { budget } = steps();
    const share = budget.joinRun({ account: 'ann', root: 'r' });
    share.use(1, 90);
    expect(share.isOwing).toBe(false);
    share.use(1, 20);
    expect(share.isOwing).toBe(true);
    expect(budget.used).toBe(2);
  });

  it('gives callers and their trees equal turns, however many runs each has', async () => {
    const { clock, budget } = steps(1_000, 1_000);
    const counts: Record<string, number> = {};
    const begin = (account: string, root: string): void => {
      const name = `${account} ${root}`;
      const done = (): void => void (counts[name] = (counts[name] ?? 0) + 1);
      void evaluate(budget.joinRun({ account, root }), 100, done);
    };
    for (let run = 0; run < 10; run += 1) begin('ann', 'r1');
    begin('ann', 'r2');
    begin('bob', 'r3');
    await clock.pass(100);
    for (const name of Object.keys(counts)) counts[name] = 0;
    await clock.pass(20_000);
    const { 'ann r1': first = 0, 'ann r2': second = 0, 'bob r3': bob = 0 } = counts;
    expect(first + second + bob).toBeGreaterThanOrEqual(190);
    expect(first + second + bob).toBeLessThanOrEqual(210);
    expect(Math.abs(bob - (first + second))).toBeLessThanOrEqual(20);
    expect(Math.abs(first - second)).toBeLessThanOrEqual(20);
  });

  it('lets a tree go first that has used the least, and none for ever', async () => {
    const { clock, budget } = steps(1_000, 1_000);
    const turns: string[] = [];
    for (const root of ['heavy 1', 'heavy 2'])
      void evaluate(budget.joinRun({ account: 'ann', root }), 1_000, () => turns.push(root));
    await clock.pass(10_000);
    turns.length = 0;
    void evaluate(budget.joinRun({ account: 'ann', root: 'light' }), 10, () => turns.push('light'));
    await clock.pass(10_000);
    expect(turns.slice(0, 2)).toContain('light');
    expect(turns.filter((it) => it === 'light').length).toBeGreaterThan(100);
    for (const root of ['heavy 1', 'heavy 2'])
      expect(turns.filter((it) => it === root).length).toBeGreaterThanOrEqual(2);
  });

  it('never lets a caller wait for others who has hardly used any steps', async () => {
    const { clock, budget } = steps();
    for (const account of ['ann', 'bob', 'cid']) budget.joinRun({ account, root: account }).use(5_000);
    const light = budget.joinRun({ account: 'zoe', root: 'z' });
    light.use(50);
    expect(light.isOwing).toBe(false);
    light.use(200);
    expect(light.isOwing).toBe(true);
    await clock.pass(20_000);
    expect(light.isOwing).toBe(false);
  });

  it('ends the wait of a run that is canceled, and of nobody else', async () => {
    const { clock, budget } = steps();
    const share = budget.joinRun({ account: 'ann', root: 'r' });
    share.use(3_000);
    const canceling = new AbortController();
    const canceled = share.whenPaid(canceling.signal);
    const other = share.whenPaid(NEVER);
    canceling.abort(new Error('canceled'));
    await expect(canceled).rejects.toThrow('canceled');
    expect(budget.waitingRuns).toBe(1);
    await clock.pass(2_001);
    await other;
    expect(budget.waitingRuns).toBe(0);
  });

  it('counts what a caller used in runs that have ended, until it has become free', async () => {
    const { clock, budget } = steps();
    const { size } = (budget as unknown as { callers: Map<string, unknown> }).callers;
    const first = budget.joinRun({ account: 'ann', root: 'r' });
    first.use(2_000);
    first.leaveBudget();
    const next = budget.joinRun({ account: 'ann', root: 'r2' });
    expect(next.isOwing).toBe(true);
    next.leaveBudget();
    await clock.pass(5_000);
    expect((budget as unknown as { callers: Map<string, unknown> }).callers.size).toBe(size);
    expect(clock.pending).toBe(0);
  });
});
