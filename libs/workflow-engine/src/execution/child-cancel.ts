import { z } from 'zod';
import type { Job } from '#libs/jobs';

/** Name of the job. */
export const CANCEL_CHILD = 'runs.cancel-child';

const FIRST_PAUSE_MS = 2_000;
/** Milliseconds during which an unreachable agent is asked again to cancel a Task. */
const PATIENCE_MS = 600_000;
/** Maximum number of attempts. The pauses between them leave time for fewer. */
const MOST_ATTEMPTS = 20;
/** Priority after the jobs that callers wait for: a run may leave hundreds of cancels. */
const PRIORITY = 5;

/** Cancel that did not reach its agent. */
export interface ChildCancel {
  runId: string;
  /** Instance of the node. */
  node: string;
  /** Attempt of the node that created the Task. */
  attempt: number;
  taskId: string;
  agentUrl: string;
  /** Workflow of a local node. Set because each replica has its own URL for that agent. */
  workflow?: string;
  /** Revision of that workflow, as the run uses it. The newest revision may lack the node. */
  revision?: string;
  scope: { tenant: string; owner: string };
  credential?: string;
  /** Protocol that the agent is known to speak. */
  protocol?: 'founding';
  /** Time at which the cancel is given up (ISO 8601). */
  until: string;
}

/** Returns a job that retries a cancel with growing pauses, until the agent answers or ten minutes have passed. */
export function createCancelJob(cancel: Omit<ChildCancel, 'until'>): Job {
  const now = Date.now();
  return {
    name: CANCEL_CHILD,
    key: `${CANCEL_CHILD}/${cancel.runId}/${cancel.node}#${cancel.attempt}`,
    payload: { ...cancel, until: new Date(now + PATIENCE_MS).toISOString() },
    runAt: new Date(now + FIRST_PAUSE_MS),
    maxAttempts: MOST_ATTEMPTS,
    priority: PRIORITY,
    caller: cancel.scope,
  };
}

/**
 * Reads the payload of the job.
 * @throws ZodError for a payload of another shape
 */
export function readChildCancel(payload: unknown): ChildCancel {
  return CHILD_CANCEL.parse(payload);
}

const CHILD_CANCEL = z.object({
  runId: z.string(),
  node: z.string(),
  attempt: z.int(),
  taskId: z.string(),
  agentUrl: z.string(),
  workflow: z.string().optional(),
  revision: z.string().optional(),
  scope: z.object({ tenant: z.string(), owner: z.string() }),
  credential: z.string().optional(),
  protocol: z.literal('founding').optional(),
  until: z.iso.datetime(),
});
