import { brainstormSpanSteps } from './brainstorm-executor.js';
import { GOLDEN_BRAINSTORMS } from './testing/golden-brainstorms.js';

describe('brainstormSpanSteps', () => {
  it.each(['converged', 'rejected', 'failed-iterated', 'recovered'])('begins and ends each call: %s', async (name) => {
    const { log } = await GOLDEN_BRAINSTORMS[name]!();
    const open = new Map<string, string>();
    const ended: [key: string, error: string | undefined][] = [];
    for (const step of log.flatMap(brainstormSpanSteps)) {
      if ('begins' in step) open.set(step.begins.slot, step.begins.key.join('/'));
      else ended.push([open.get(step.ends.slot) ?? 'none', step.ends.error]);
    }
    expect(ended.length).toBeGreaterThan(1);
    expect(ended.filter(([key]) => !key.startsWith('call/'))).toEqual([]);
    expect(new Set(ended.map(([key]) => key)).size).toBe(ended.length);
    const errors = ended.flatMap(([, error]) => error ?? []);
    expect(errors).toEqual({ rejected: ['rejected'], 'failed-iterated': ['failed'] }[name] ?? []);
  });
});
