import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { type CallIdentity, cancelTask } from '#libs/agent-calls';
import { ServiceAddress } from '#libs/http';
import { type JobContext, Jobs } from '#libs/jobs';
import { Metrics } from '#libs/service';
import { CancelOutcomes } from './cancel-outcomes.js';
import { CANCEL_CHILD, type ChildCancel, readChildCancel } from './child-cancel.js';
import { nodeUrl } from './node-address.js';
import { childReference, nodeOfInstance } from './node-dispatch.js';
import { OpenCancels } from './open-cancels.js';

/** Milliseconds that a job waits for an agent. The next attempt finds an answer that comes later. */
const SOON_MS = 250;

/** Failure of an attempt whose agent could not be reached. The job is retried. */
class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable';
}

/**
 * Retries the cancels of children whose agents could not be reached when their run was canceled, and records the
 * outcome. Only the last attempt of a cancel occupies a slot of the job queue for longer than a moment.
 */
@Injectable()
export class CancelRetries {
  private readonly attempts;
  private readonly open = new OpenCancels();

  constructor(
    jobs: Jobs,
    metrics: Metrics,
    private readonly directory: AgentDirectory,
    private readonly outcomes: CancelOutcomes,
    private readonly address: ServiceAddress,
  ) {
    this.attempts = metrics.counter(
      'parley_cancel_retries_total',
      'Cancels of remote tasks that were tried again: unreachable ones will be once more, given-up ones will not',
      ['outcome'],
    );
    jobs.registerHandler(CANCEL_CHILD, {
      read: readChildCancel,
      run: (cancel, context) => this.retryCancel(cancel, context),
    });
  }

  private async retryCancel(cancel: ChildCancel, { last, signal }: JobContext): Promise<void> {
    const { runId, node, attempt } = cancel;
    // A job may run again after it was done.
    const known = await this.outcomes.listOutcomes(runId);
    if (known.some((outcome) => outcome.node === node && outcome.attempt === attempt)) return;
    const url = this.resolveAgentUrl(cancel);
    const place = { name: `${runId}/${node}#${attempt}`, url, whose: cancel.scope };
    const asked = this.open.cancelOnce(place, () => this.cancelChild(cancel, url));
    const isKept = last ? await asked : await resolveSoon(asked);
    signal.throwIfAborted();
    if (isKept) return;
    if (!last)
      throw new AgentUnreachable(`The agent of node ${node} could not be reached to cancel task ${cancel.taskId}`);
    await this.outcomes.recordOutcome({ runId, node, attempt, outcome: 'unreachable' });
    this.attempts.inc({ outcome: 'given-up' });
  }

  /**
   * Cancels the Task at its agent. Records the outcome here: the attempt that started this may be over.
   * @returns false if the agent is to be asked again
   */
  private async cancelChild(cancel: ChildCancel, url: string): Promise<boolean> {
    const { runId, node, attempt } = cancel;
    const outcome = await cancelTask(this.directory, url, cancel.taskId, createCallIdentity(cancel));
    const isOver = outcome !== 'unreachable' || Date.now() >= Date.parse(cancel.until);
    if (isOver) await this.outcomes.recordOutcome({ runId, node, attempt, outcome });
    this.attempts.inc({ outcome: isOver && outcome === 'unreachable' ? 'given-up' : outcome });
    return isOver;
  }

  private resolveAgentUrl({ workflow, node, agentUrl }: ChildCancel): string {
    if (workflow === undefined) return agentUrl;
    return (
      nodeUrl(workflow, { id: nodeOfInstance(node), type: 'own', config: {} }, this.address.internalUrl) ?? agentUrl
    );
  }
}

/** Resolves with the result, or with `undefined` after `SOON_MS`. */
async function resolveSoon<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  // A later failure belongs to no attempt: the next one asks again.
  asked?.catch(() => undefined);
  const over = new AbortController();
  try {
    return await Promise.race([asked, delay(SOON_MS, undefined, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}

function createCallIdentity({
  scope,
  revision,
  credential,
  protocol,
  runId,
  node,
  attempt,
}: ChildCancel): CallIdentity {
  return {
    scope,
    parent: { taskId: runId, reference: childReference(node, attempt) },
    ...(revision !== undefined && { revision }),
    ...(credential !== undefined && { credential }),
    ...(protocol !== undefined && { protocol }),
  };
}
