import { setTimeout as delay } from 'node:timers/promises';
import { SAFETY_NET_MS } from '../../support/until.js';
import type { Api, Run } from '../../support/workflow.js';

/**
 * Milliseconds in which a run must end: it may be taken over several times, and a parked run sleeps for half a minute.
 */
const RUN_MS = 240_000;
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

/**
 * Repeats an attempt until it succeeds, since replicas are killed meanwhile. Throws the last error when the time is
 * over.
 */
export async function insistently<T>(attempt: () => Promise<T>, within = SAFETY_NET_MS): Promise<T> {
  const begun = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() - begun > within) throw error;
      await delay(50);
    }
  }
}

/** Waits until a run has ended, and returns it. */
export function endOf(api: Api, runId: string): Promise<Run> {
  return insistently(async () => {
    const run = await api.run(runId);
    if (!ENDED.has(run.status)) throw new Error(`Run ${runId} is ${run.status}: ${JSON.stringify(run.nodes)}`);
    return run;
  }, RUN_MS);
}
