import type { Job } from '#libs/jobs';
import { z } from 'zod';

/** The job's name. */
export const CANCEL_CHILD = 'runs.cancel-child';

const FIRST_PAUSE_MS = 2_000;
/** How long an agent that cannot be reached is asked again to cancel a Task. */
const PATIENCE_MS = 600_000;
/** More than the pauses between them leave time for. */
const MOST_ATTEMPTS = 20;
/** Priority behind what callers wait for: a run may leave hundreds of cancels. */
const PRIORITY = 5;

/** A cancel that did not reach its agent. */
export interface ChildCancel {
  runId: string;
  /** The instance of the node. */
  node: string;
  /** Which start of the node made the Task. */
  attempt: number;
  taskId: string;
  agentUrl: string;
  /** The workflow of an own node: any replica has that agent at an address of its own. */
  workflow?: string;
  /** Of that workflow: the run's own, which may have nodes that the newest one has not. */
  revision?: string;
  scope: { tenant: string; owner: string };
  credential?: string;
  /** Protocol that the agent is known to speak. */
  protocol?: 'founding';
  /** ISO 8601; it is given up then. */
  until: string;
}

/** Tries a cancel again, with growing pauses, until the agent has answered or ten minutes have passed. */
export function cancelJob(cancel: Omit<ChildCancel, 'until'>): Job {
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

/** @throws where a payload is none of `cancelJob` */
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
