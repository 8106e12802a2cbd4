import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Job } from '#libs/jobs';
import { formQuestion, isWaitingState, jsonDigest, type JsonObject, type Task } from '#libs/protocol';
import { Backoff } from '#libs/service';
import type { TaskHeader, TaskStore } from '#libs/tasks';
import type { NodeInstance } from '../state/node-instance.js';
import { AUTH_REQUIRED } from '../state/run-steps.js';
import type { ChildEnding } from './child-ending.js';
import type { LastSequences } from './run-ending.js';
import type { RunChildStore } from './run-services.js';

/** Name of the job that polls a remote Task which has asked a run a question. `RemoteLooks` runs that job. */
export const LOOK_AT_REMOTE = 'runs.look-at-remote';

/** Backoff between the polls of one question: 2 seconds to 5 minutes. */
export const LOOK_BACKOFF = new Backoff(2_000, 300_000, 0.25);
/**
 * Maximum number of attempts of one job. The job fails only while the database is unavailable; these attempts last
 * longer than a day.
 */
const MOST_ATTEMPTS = 25;
/** Priority of the job: it runs after all other kinds of jobs. */
const PRIORITY = 10;

/** Payload of the polling job: a question that a remote agent has asked a run, and that is still unanswered. */
export interface RemoteLook {
  runId: string;
  /** Name of the node's instance. */
  node: string;
  /** Id of the question, see `questionId`. */
  asked: string;
  /** Number of polls of the child so far. */
  looks: number;
  /**
   * True if `RemoteLooks` has already reserved a time slot for this poll. The slots for agents of one origin are some
   * time apart, so that the service does not poll one host too often.
   */
  reserved?: boolean;
  attempt: number;
  taskId: string;
  agentUrl: string;
  scope: { tenant: string; owner: string };
  /** Name of the stored credential for calls to the agent; absent if the calls send no credential. */
  credential?: string;
  wantsAuth: boolean;
  /** Digest of the question, see `questionDigest`. */
  question: string;
}

/** Payload of the job that replaces a pending poll once the question has been answered. */
interface LookOver {
  runId: string;
  node: string;
  over: true;
}

/**
 * Returns the id of the question that a node's attempt asks. Each Message to the agent, and each resumption of its
 * Task, begins a new question.
 */
export function questionId({ attempts, sentAt = '' }: { attempts: number; sentAt?: string }): string {
  return `${attempts} ${sentAt}`;
}

/** Returns the digest of a question's Parts and form. The order of JSON members does not affect it. */
function questionDigest({ question, asks }: Pick<WaitingEnding, 'question' | 'asks'>): string {
  const members = { question, ...(asks && { asks }) } as unknown as JsonObject;
  return jsonDigest(JSON.parse(JSON.stringify(members)) as JsonObject);
}

type WaitingEnding = Extract<ChildEnding, { kind: 'waiting' }>;

/**
 * True if the remote Task still asks the question for which the run waits. A waiting Task without a Message counts as
 * unchanged, because some agents send the question only in their stream.
 */
export function asksTheSame({ wantsAuth, question }: RemoteLook, { status }: Pick<Task, 'status'>): boolean {
  const { state, message } = status;
  if ((state as string) === 'TASK_STATE_UNSPECIFIED') return true;
  if (!isWaitingState(state) || wantsAuth !== (state === 'TASK_STATE_AUTH_REQUIRED')) return false;
  if (message === undefined) return true;
  const asks = formQuestion(message);
  return questionDigest({ question: message.parts, ...(asks && { asks }) }) === question;
}

/**
 * Creates the job that polls a remote Task. Commit the job together with the event that records the question.
 * @param ending the ending that has the question of the agent
 */
export function remoteLookJob(
  look: Omit<RemoteLook, 'wantsAuth' | 'question'>,
  ending: Pick<WaitingEnding, 'status' | 'question' | 'asks'>,
): Job {
  const payload = { ...look, wantsAuth: ending.status === AUTH_REQUIRED, question: questionDigest(ending) };
  return {
    name: LOOK_AT_REMOTE,
    key: remoteLookKey(look),
    payload,
    runAt: new Date(Date.now() + LOOK_BACKOFF.pauseAfter(look.looks, 0)),
    maxAttempts: MOST_ATTEMPTS,
    priority: PRIORITY,
  };
}

/**
 * Creates the job that ends the polls for a node's question. The job replaces the pending poll, because both have the
 * same key.
 */
export function remoteLookOver({ runId, node }: Omit<LookOver, 'over'>): Job {
  return { name: LOOK_AT_REMOTE, key: remoteLookKey({ runId, node }), payload: { runId, node, over: true } };
}

export function remoteLookKey({ runId, node }: Pick<RemoteLook, 'runId' | 'node'>): string {
  return `${LOOK_AT_REMOTE}/${runId}/${node}`;
}

/** Returns the next poll of the question, with the pause before it. The running job enqueues that poll. */
export function nextLook(look: RemoteLook, pause: number): NextLook {
  const limits = { maxAttempts: MOST_ATTEMPTS, priority: PRIORITY };
  return { name: LOOK_AT_REMOTE, key: remoteLookKey(look), payload: look, pause, ...limits };
}

export interface NextLook {
  name: string;
  key: string;
  payload: RemoteLook;
  /** Pause before the poll, in milliseconds. */
  pause: number;
  maxAttempts: number;
  priority: number;
}

/** Parses the payload of the polling job. @throws ZodError for a payload of another shape */
export function readRemoteLook(payload: unknown): RemoteLook | LookOver {
  return REMOTE_LOOK.parse(payload);
}

const REMOTE_LOOK = z.union([
  z.object({ runId: z.string(), node: z.string(), over: z.literal(true) }),
  z.object({
    runId: z.string(),
    node: z.string(),
    asked: z.string(),
    looks: z.int(),
    reserved: z.boolean().optional(),
    attempt: z.int(),
    taskId: z.string(),
    agentUrl: z.string(),
    scope: z.object({ tenant: z.string(), owner: z.string() }),
    credential: z.string().optional(),
    wantsAuth: z.boolean(),
    question: z.string(),
  }),
]);

/** Result of polling the Tasks of nodes that wait for an answer. */
export interface AskingChildren {
  /** Nodes whose Tasks no longer ask the question that the run knows. */
  movedOn: NodeInstance[];
  /** Sequence numbers of the last events of the polled local Tasks, by Task id. */
  sequences: LastSequences;
}

/**
 * Finds waiting nodes whose Tasks no longer ask the question that the run knows: it was answered at the Task itself, or
 * the Task was canceled or continued without an answer.
 * - Local Tasks are read from the store.
 * - Remote Tasks are not called: `RemoteLooks` polls them, and its stored results are read.
 */
export async function pollWaitingChildren(
  { tasks, children }: AskedStores,
  runId: string,
  waiting: WaitingNodes,
): Promise<AskingChildren> {
  const own = await pollLocalChildren(tasks, waiting.own);
  const elsewhere = await pollRemoteChildren(children, runId, waiting.elsewhere);
  return { ...own, movedOn: [...own.movedOn, ...elsewhere] };
}

/** Nodes of a run whose Tasks wait for an answer. */
interface WaitingNodes {
  /** Nodes with Tasks of this service. */
  own: readonly NodeInstance[];
  /** Nodes with Tasks of remote agents. */
  elsewhere: readonly NodeInstance[];
}

export interface AskedStores {
  tasks: Pick<TaskStore, 'readHeaders' | 'loadTask'>;
  children: Pick<RunChildStore, 'movedOn'>;
}

async function pollRemoteChildren(
  children: AskedStores['children'],
  runId: string,
  waiting: readonly NodeInstance[],
): Promise<NodeInstance[]> {
  const asking = waiting.filter(({ taskId }) => taskId !== undefined);
  if (asking.length === 0) return [];
  const found = new Set((await children.movedOn(runId)).map(({ nodeId, asked }) => `${nodeId} ${asked}`));
  return asking.filter((node) => found.has(`${node.instance} ${questionId(node)}`));
}

async function pollLocalChildren(
  tasks: AskedStores['tasks'],
  waiting: readonly NodeInstance[],
): Promise<AskingChildren> {
  const own = waiting.filter(({ taskId }) => taskId !== undefined);
  if (own.length === 0) return { movedOn: [], sequences: {} };
  const headers = await tasks.readHeaders(own.map(({ taskId = '' }) => taskId));
  const movedOn: NodeInstance[] = [];
  for (const node of own) {
    const header = headers.get(node.taskId ?? '');
    if (header && !(await isQuestionUnchanged(tasks, node, header))) movedOn.push(node);
  }
  return { movedOn, sequences: Object.fromEntries([...headers].map(([id, { lastSequence }]) => [id, lastSequence])) };
}

/**
 * True if a local Task still asks the question that its run knows. Loads the Task at most once for each of its states.
 * Timestamps are not compared, because the clocks of two replicas differ.
 */
async function isQuestionUnchanged(
  tasks: Pick<TaskStore, 'loadTask'>,
  node: NodeInstance,
  header: TaskHeader,
): Promise<boolean> {
  if (!isWaitingState(header.state)) return false;
  const known = { question: node.question, asks: node.asks };
  const state = `${header.lastSequence} ${createHash('sha256').update(JSON.stringify(known)).digest('base64')}`;
  if (found.get(header.taskId) === state) return true;
  const message = (await tasks.loadTask(header.taskId))?.task.status.message;
  if (!isDeepStrictEqual(known, { question: message?.parts ?? [], asks: formQuestion(message) })) return false;
  found.set(header.taskId, state);
  return true;
}

/**
 * Tasks that were found unchanged, each with the state in which it was compared. They are not loaded again in that
 * state.
 */
const found = new LRUCache<string, string>({ max: 20_000 });

/** Interval before the first poll of open questions, in milliseconds. */
const FIRST_LOOK_MS = 2_000;

/**
 * Schedules when an executing run polls the Tasks of its open questions (`pollWaitingChildren`). The run must poll,
 * because nothing wakes it when such a Task resumes without the run's answer. The interval grows with the age of the
 * questions. After the turn, `RunWaking` and `RemoteLooks` wake the waiting run.
 */
export class QuestionPoller {
  private since: number | undefined;
  private at: number | undefined;

  /**
   * Returns the time of the next poll in milliseconds of the epoch; `undefined` while no question is open.
   * @param isAsked true if a question is open
   * @param now in milliseconds of the epoch
   */
  nextPollAt(isAsked: boolean, now: number): number | undefined {
    if (!isAsked) {
      this.since = undefined;
      this.at = undefined;
      return undefined;
    }
    this.since ??= now;
    this.at ??= now + Math.max(FIRST_LOOK_MS, now - this.since);
    return this.at;
  }

  /** True if a poll is due at `now` (milliseconds of the epoch). Returns true once for each due time. */
  isDue(now: number): boolean {
    if (this.at === undefined || now < this.at) return false;
    this.at = undefined;
    return true;
  }
}
