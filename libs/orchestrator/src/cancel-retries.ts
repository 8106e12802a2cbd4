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

/** The agent could not be reached; it is asked again. */
class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable';
}

/** Cancels children whose agents could not be reached when their run was canceled, and keeps what came of it. */
@Injectable()
export class CancelRetries {
  private readonly attempts;

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
    jobs.register(CANCEL_CHILD, { read: readChildCancel, run: (cancel, context) => this.run(cancel, context) });
  }

  private async run(cancel: ChildCancel, { last, signal }: JobContext): Promise<void> {
    const { runId, node, attempt } = cancel;
    // A job that was done may come again.
    const known = await this.outcomes.of(runId);
    if (known.some((outcome) => outcome.node === node && outcome.attempt === attempt)) return;
    const outcome = await cancelTask(this.directory, this.urlOf(cancel), cancel.taskId, identityOf(cancel));
    signal.throwIfAborted();
    const over = last || Date.now() >= Date.parse(cancel.until);
    if (outcome === 'unreachable' && !over) {
      this.attempts.inc({ outcome });
      throw new AgentUnreachable(`The agent of node ${node} could not be reached to cancel task ${cancel.taskId}`);
    }
    await this.outcomes.keep({ runId, node, attempt, outcome });
    this.attempts.inc({ outcome: outcome === 'unreachable' ? 'given-up' : outcome });
  }

  private urlOf({ workflow, node, agentUrl }: ChildCancel): string {
    if (workflow === undefined) return agentUrl;
    return (
      nodeUrl(workflow, { id: nodeOfInstance(node), type: 'own', config: {} }, this.address.internalUrl) ?? agentUrl
    );
  }
}

function identityOf({ scope, revision, credential, protocol, runId, node, attempt }: ChildCancel): CallIdentity {
  return {
    scope,
    parent: { taskId: runId, reference: childReference(node, attempt) },
    ...(revision !== undefined && { revision }),
    ...(credential !== undefined && { credential }),
    ...(protocol !== undefined && { protocol }),
  };
}
