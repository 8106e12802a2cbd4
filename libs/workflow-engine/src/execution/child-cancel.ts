import { z } from 'zod';
import type { Job } from '#libs/jobs';

/** Name of the job that retries the cancel of a node's Task. `CancelRetries` runs that job. */
export const CANCEL_CHILD = 'runs.cancel-child';

const FIRST_PAUSE_MS = 2_000;
/** Maximum milliseconds of retries of a cancel while its agent cannot be reached. */
const PATIENCE_MS = 600_000;
/** Maximum number of attempts of the job, never reached: PATIENCE_MS ends the retries before. */
const MOST_ATTEMPTS = 20;
/** Priority of the job: it runs after jobs that callers wait for, because a run may leave hundreds of cancels. */
const PRIORITY = 5;

/** Payload of the job: a cancel that did not reach its agent. */
export interface ChildCancel {
  runId: string;
  /** Name of the node's instance. */
  node: string;
  /** Attempt of the node that created the Task. */
  attempt: number;
  taskId: string;
  agentUrl: string;
  /**
   * Workflow of a local node; absent for a remote agent. Each replica derives the URL of the node's agent from this
   * name, because the URLs differ between replicas.
   */
  workflow?: string;
  /**
   * Revision of `workflow` with which the run was started, since the newest revision may lack the node. Absent if
   * `workflow` is absent, or if the Task names no revision.
   */
  revision?: string;
  /** Path of a registered agent below `/a2a`, used to derive its URL; absent for any other agent. */
  registered?: string;
  scope: { tenant: string; owner: string };
  credential?: string;
  /** `founding` if the agent is known to speak the pre-1.0 dialect of A2A; absent if its protocol is unknown. */
  protocol?: 'founding';
  /** Time (ISO 8601) at which retries of the cancel end. */
  until: string;
}

/**
 * Creates the job that retries a cancel with growing pauses (backoff), until the agent answers or ten minutes have
 * passed.
 */
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
 * Parses the payload of the job.
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
  registered: z.string().optional(),
  scope: z.object({ tenant: z.string(), owner: z.string() }),
  credential: z.string().optional(),
  protocol: z.literal('founding').optional(),
  until: z.iso.datetime(),
});
