import { setTimeout as delay } from 'node:timers/promises';
import { SAFETY_NET_MS } from '../../support/until.js';
import type { Api, Run } from '../../support/workflow.js';

/** A run is taken over in seconds, several times one after the other, and one that is parked sleeps for half a minute. */
const RUN_MS = 240_000;
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

/** Tries again until it succeeds: replicas are killed just now. Throws what came last when the time is over. */
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

/** The run when it has ended. */
export function endOf(api: Api, runId: string): Promise<Run> {
  return insistently(async () => {
    const run = await api.run(runId);
    if (!ENDED.has(run.status)) throw new Error(`Run ${runId} is ${run.status}: ${JSON.stringify(run.nodes)}`);
    return run;
  }, RUN_MS);
}
