import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { type CallIdentity, cancelTask } from '#libs/durable';
import { acceptedRevision, ChildEndings } from '#libs/executor';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import type { JobContext } from '#libs/jobs';
import { InFlight, type InFlightOwner, Metrics, withinTime } from '#libs/service';
import { type TaskHeader, TaskStore } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import {
  CANCEL_CHILD,
  type ChildCancel,
  childReference,
  createCancelJob,
  externalCall,
  nodeOfInstance,
  nodeUrl,
  readChildCancel,
  readNodeId,
  type RunChild,
  RunChildStore,
} from '#libs/workflow-engine';
import { CancelOutcomes } from '../storage/postgres-run-stores.js';
import { findRevision, WorkflowStore } from '../storage/workflow-store.js';

/** Maximum number of concurrent cancels that one caller has at one origin (host of agents), in this process. */
const CANCELS_AT_ORIGIN = 4;
/** Maximum number of concurrent cancels of one caller, at all origins. */
const CANCELS_OF_CALLER = 16;
/** Maximum number of concurrent cancels of one tenant. The tenant `''` has no such limit. */
const CANCELS_OF_TENANT = 48;
/** Maximum number of concurrent cancels in this process. */
const CANCELS_AT_ONCE = 64;

/** Task at a remote agent that must be canceled. */
interface CancelPlace {
  /** Name of the cancel. Two cancels with the same name are never in progress at the same time. */
  name: string;
  url: string;
  whose: InFlightOwner;
}

interface OpenCancel {
  account: string;
  tenant: string;
  origin: string;
  asked: Promise<boolean>;
}

/**
 * Cancels in progress: the request was sent, and the agent has not answered yet.
 * - A cancel in progress occupies no slot of the job queue, so a silent agent delays neither cancels at other agents
 *   nor other jobs.
 * - The silent agents of one caller do not use up the limit for cancels of other callers.
 */
class OpenCancels {
  private readonly open = new Map<string, OpenCancel>();

  /**
   * Starts a cancel. If a cancel with this name is in progress, waits for that one instead. Resolves with the result of
   * `ask`: true if the outcome is stored.
   * @returns `undefined` if the limits allow no further cancel
   */
  cancelOnce({ name, url, whose }: CancelPlace, ask: () => Promise<boolean>): Promise<boolean> | undefined {
    const known = this.open.get(name);
    if (known) return known.asked;
    const { tenant } = whose;
    const place = { account: InFlight.accountOf(whose), tenant, origin: URL.parse(url)?.origin ?? url };
    if (!this.hasRoomFor(place)) return undefined;
    const asked = ask().finally(() => this.open.delete(name));
    this.open.set(name, { ...place, asked });
    return asked;
  }

  private hasRoomFor({ account, tenant, origin }: Omit<OpenCancel, 'asked'>): boolean {
    const all = [...this.open.values()];
    const own = all.filter((it) => it.account === account);
    const ofTenant = tenant === '' ? [] : all.filter((it) => it.tenant === tenant);
    return (
      all.length < CANCELS_AT_ONCE &&
      ofTenant.length < CANCELS_OF_TENANT &&
      own.length < CANCELS_OF_CALLER &&
      own.filter((it) => it.origin === origin).length < CANCELS_AT_ORIGIN
    );
  }
}

/**
 * Maximum time that a job waits for the agent's answer, in milliseconds. If the answer comes later, the next
 * attempt of the job finds its stored outcome.
 */
const SOON_MS = 250;

/** Failure of an attempt of the job: the agent could not be reached. The job is retried. */
class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable';
}

/**
 * Retries the cancels of child Tasks that could not reach the agents of these Tasks, and records the outcomes. The
 * Tasks belong to runs that gave them up or were canceled. An attempt of a job occupies a slot of the job queue for at
 * most SOON_MS; only the last attempt waits until the agent answers.
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
    // A job may run again although it has succeeded.
    const known = await this.outcomes.listOutcomes(runId);
    if (known.some((outcome) => outcome.node === node && outcome.attempt === attempt)) return;
    const url = this.resolveAgentUrl(cancel);
    const place = { name: `${runId}/${node}#${attempt}`, url, whose: cancel.scope };
    const asked = this.open.cancelOnce(place, () => this.cancelChild(cancel, url));
    // A failure after that time belongs to no attempt: the next attempt requests the cancel again.
    const isKept = last || !asked ? await asked : await withinTime(asked, SOON_MS);
    signal.throwIfAborted();
    if (isKept) return;
    if (!last)
      throw new AgentUnreachable(`The agent of node ${node} could not be reached to cancel task ${cancel.taskId}`);
    await this.outcomes.recordOutcome({ runId, node, attempt, outcome: 'unreachable' });
    this.attempts.inc({ outcome: 'given-up' });
  }

  /**
   * Cancels the Task at its agent, and records the outcome itself, because the attempt of the calling job may be over
   * when the agent answers.
   * @returns false if the cancel must be retried
   */
  private async cancelChild(cancel: ChildCancel, url: string): Promise<boolean> {
    const { runId, node, attempt } = cancel;
    const outcome = await cancelTask(this.directory, url, cancel.taskId, createCallIdentity(cancel));
    const isOver = outcome !== 'unreachable' || Date.now() >= Date.parse(cancel.until);
    if (isOver) await this.outcomes.recordOutcome({ runId, node, attempt, outcome });
    this.attempts.inc({ outcome: isOver && outcome === 'unreachable' ? 'given-up' : outcome });
    return isOver;
  }

  private resolveAgentUrl({ workflow, registered, node, agentUrl }: ChildCancel): string {
    if (registered !== undefined) return `${this.address.internalUrl}/a2a/${registered}`;
    if (workflow === undefined) return agentUrl;
    return (
      nodeUrl(workflow, { id: nodeOfInstance(node), type: 'own', config: {} }, this.address.internalUrl) ?? agentUrl
    );
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

const RUN_PATH = /^workflows\/([^/]+)$/;

/**
 * Cancels the remote Tasks of a run that was ended from outside, not by its executor. It enqueues jobs that
 * `CancelRetries` runs.
 */
@Injectable()
export class RemoteChildren {
  constructor(
    endings: ChildEndings,
    private readonly children: RunChildStore,
    private readonly outcomes: CancelOutcomes,
    private readonly workflows: WorkflowStore,
    private readonly tasks: TaskStore,
    private readonly jobs: Jobs,
  ) {
    endings.addRemoteEnding((run) => this.endAll(run));
  }

  private async endAll(run: TaskHeader): Promise<void> {
    const children = await this.children.listChildren(run.taskId);
    if (children.length === 0) return;
    const known = new Set((await this.outcomes.listOutcomes(run.taskId)).map(attemptKey));
    const definition = await this.definitionOf(run);
    const unknown = children.filter(({ nodeId, attempt }) => !known.has(attemptKey({ node: nodeId, attempt })));
    await this.jobs.enqueueJobs(unknown.map((child) => jobOf(run, child, definition)));
  }

  /**
   * Returns the definition of a run; `undefined` if the definition no longer exists. Also `undefined` for the run of a
   * `workflow` node: its remote agents are then called without a credential.
   */
  private async definitionOf({ taskId, tenant, agent }: TaskHeader): Promise<WorkflowDefinition | undefined> {
    const [, workflow] = RUN_PATH.exec(agent) ?? [];
    if (workflow === undefined) return undefined;
    const revision = await acceptedRevision(this.tasks, taskId);
    return (await findRevision(this.workflows.inTenant(tenant), workflow, revision))?.definition;
  }
}

function jobOf(
  { taskId: runId, tenant, owner }: TaskHeader,
  { nodeId, attempt, taskId, agentUrl }: RunChild,
  definition: WorkflowDefinition | undefined,
): ReturnType<typeof createCancelJob> {
  return createCancelJob({
    runId,
    node: nodeId,
    attempt,
    taskId,
    agentUrl,
    scope: { tenant, owner },
    ...externalCall(definition?.nodes.find(({ id }) => id === readNodeId(nodeId))),
  });
}

function attemptKey({ node, attempt }: { node: string; attempt: number }): string {
  return `${node}#${attempt}`;
}
