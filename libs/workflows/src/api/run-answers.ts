import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiCall } from '#libs/access';
import { AgentCatalog, UnknownAgent, unreadParts } from '#libs/agents';
import { endedProcessError, Processes } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import { type FieldViolation, isTerminalState, isWaitingState, type Part, userMessage } from '#libs/protocol';
import { type StoredTask, TaskFeed } from '#libs/tasks';
import {
  answerFaults,
  namedNode,
  NODE_KEY,
  type NodeInstance,
  nodePath,
  readNodeId,
  revisionOf,
  type RunState,
  runStatus,
} from '#libs/workflow-engine';
import { RUN, Runs } from './runs.js';

/** Maximum milliseconds that an answer waits until its run accepts answers. A run accepts none while it executes. */
const PATIENCE_MS = 10_000;

/**
 * Pause after a busy run has rejected an answer, in milliseconds. After the pause, the answer is sent again as soon as
 * the run waits for an answer.
 */
const CONTENDED_MS = 20;

interface AskingRun {
  process: StoredTask;
  state: RunState;
}

/** Answers questions of a run's nodes. */
@Injectable()
export class RunAnswers {
  constructor(
    private readonly runs: Runs,
    private readonly processes: Processes,
    private readonly feed: TaskFeed,
    private readonly agents: AgentCatalog,
  ) {}

  /**
   * Answers the question of a node. Resolves with the name of the answered instance when the answer is durable; the run
   * then resumes.
   * @param name id of the node, or name of the instance that asks
   * @throws ProblemError
   * - 404 for an unknown run or node
   * - 409 if the node has no open question, or the run does not accept the answer within 10 seconds
   * - 422 if the answer does not fit the question, or several instances ask
   */
  async answerNode(runId: string, name: string, parts: Part[], call: ApiCall): Promise<string> {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      using room = this.processes.openRoom(call);
      const run = await this.runs.foldRun(runId, call.scope, room);
      const node = askingNode(run, name);
      const { header } = run.process;
      // Validate at once, against the state at `header`: an execution may modify the state meanwhile.
      const unfit = answerFaults(node, parts);
      const { instance } = node;
      const unread = await this.findUnreadParts(run, node, parts);
      const faults = unread.length > 0 ? unread : unfit;
      if (faults.length > 0) throw notFitting(name, faults);
      const message = userMessage(parts, { metadata: { [NODE_KEY]: instance } });
      // The answer belongs to the state at `header`. If the run has continued meanwhile, its question may differ.
      const isTaken =
        isWaitingState(header.state) && (await this.processes.resumeProcess(run.process, message, call, 'found'));
      if (isTaken) return instance;
      if (patience.aborted) throw new ProblemError(409, 'the run is at work; it takes answers when it waits again');
      room[Symbol.dispose]();
      await this.untilItWaits(run.process, patience);
    }
  }

  /**
   * Returns a violation for each Part that the agent of the node cannot read. An external agent reports this itself.
   */
  private async findUnreadParts(
    { process, state }: AskingRun,
    node: NodeInstance,
    parts: Part[],
  ): Promise<FieldViolation[]> {
    if (node.type === 'external') return [];
    const path = nodePath(state.definition.name, node.id);
    try {
      const agents = this.agents.inTenant(process.header.tenant);
      return unreadParts(await agents.resolveAgent(path, revisionOf(process.task)), parts);
    } catch (error) {
      if (error instanceof UnknownAgent) return [];
      throw error;
    }
  }

  /**
   * Resolves when the run waits for an answer again, after another answer or a due timer has resumed it.
   * @throws the reason of the signal if it aborts first
   */
  private async untilItWaits({ header }: StoredTask, signal: AbortSignal): Promise<void> {
    // A replica that has just claimed the run may not have recorded an event yet.
    await delay(CONTENDED_MS);
    const events = this.feed.followTask(header.taskId, header.lastSequence, { until: 'waiting', signal });
    while (!(await events.next()).done);
  }
}

function notFitting(name: string, faults: readonly FieldViolation[]): ProblemError {
  const errors = faults.map(({ field, description }) => ({ path: field, detail: description }));
  return new ProblemError(422, `the answer does not fit what node "${name}" asks`, errors);
}

/**
 * Returns the instance that asks a question, by its name or the id of its node.
 * @throws ProblemError
 * - 404 if the run has no such node
 * - 409 if the run has ended, or no instance of this name asks
 * - 422 if several instances ask
 */
function askingNode({ process, state }: AskingRun, name: string): NodeInstance {
  const known = state.findInstance(name) ?? state.nodes.get(readNodeId(name));
  if (known === undefined) throw new ProblemError(404, 'node not found');
  const { state: taskState } = process.header;
  if (isTerminalState(taskState)) throw endedProcessError(RUN, `it is ${runStatus(taskState)}`);
  const asking = namedNode(state.frontier.waiting, name);
  if (asking.length === 0) throw new ProblemError(409, `node "${name}" has no open question`);
  if (asking.length === 1) return asking[0]!;
  const names = asking.slice(0, 10).map(({ instance }) => instance);
  const detail = `names ${asking.length} instances that ask: ${names.join(', ')}${asking.length > names.length ? ', …' : ''}`;
  throw new ProblemError(422, `node ${detail}`, [{ path: 'node', detail }]);
}
