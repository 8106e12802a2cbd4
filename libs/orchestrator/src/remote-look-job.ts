import { createHash } from 'node:crypto';
import type { Job } from '#libs/jobs';
import { canonicalJson, formQuestion, isWaitingState, type JsonObject, type Task } from '#libs/protocol';
import { z } from 'zod';
import type { ChildEnding } from './child-ending.js';
import { AUTH_REQUIRED } from './run-steps.js';

/** The job that looks at the Task of an agent elsewhere that has asked a run something. */
export const LOOK_AT_REMOTE = 'runs.look-at-remote';

/** Pause before the first look, in milliseconds. Each further pause is twice as long, up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 300_000;
/** Part of a pause that chance takes off, so that the looks of many runs spread. */
const SPREAD = 0.25;
/** A job fails only while the database is away; with the pauses between them, the attempts outlast a day of that. */
const MOST_ATTEMPTS = 25;
/** Priority behind every other kind of work. */
const PRIORITY = 10;

/** A question of an agent elsewhere that a run waits with. */
export interface RemoteLook {
  runId: string;
  /** The instance of the node. */
  node: string;
  /** Which question of the node it is, see `questionId`. */
  asked: string;
  /** Number of looks so far. */
  looks: number;
  /** True if the agent's turn has been reserved for this look. */
  reserved?: boolean;
  attempt: number;
  taskId: string;
  agentUrl: string;
  scope: { tenant: string; owner: string };
  /** The name of a stored credential. */
  credential?: string;
  wantsAuth: boolean;
  /** Digest of the question, see `questionDigest`. */
  question: string;
}

/** Ends the looks at a node's question that has been answered. */
interface LookOver {
  runId: string;
  node: string;
  over: true;
}

/** Names the question that an attempt of a node waits with: a Message sent and a Task resumed both begin another one. */
export function questionId({ attempts, sentAt = '' }: { attempts: number; sentAt?: string }): string {
  return `${attempts} ${sentAt}`;
}

/** Returns a digest of a question's Parts and form, whatever the order of their members. */
export function questionDigest({ question, asks }: Pick<WaitingEnding, 'question' | 'asks'>): string {
  const members = { question, ...(asks && { asks }) } as unknown as JsonObject;
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(members)) as JsonObject))
    .digest('base64url');
}

type WaitingEnding = Extract<ChildEnding, { kind: 'waiting' }>;

/**
 * True if the agent's Task still asks what the run waits with. A waiting Task without a Message counts as unchanged: some
 * agents say the question in their stream only.
 */
export function asksTheSame({ wantsAuth, question }: RemoteLook, { status }: Pick<Task, 'status'>): boolean {
  const { state, message } = status;
  if ((state as string) === 'TASK_STATE_UNSPECIFIED') return true;
  if (!isWaitingState(state) || wantsAuth !== (state === 'TASK_STATE_AUTH_REQUIRED')) return false;
  if (message === undefined) return true;
  const asks = formQuestion(message);
  return questionDigest({ question: message.parts, ...(asks && { asks }) }) === question;
}

/** Returns the milliseconds before a look, by the number of looks before it. */
export function pauseBefore(looks: number, random = Math.random()): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(looks, 30)) * (1 - SPREAD * random);
}

/**
 * Looks at an agent's Task that asks. To be committed with the event that says so.
 * @param ending what the agent asks
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
    runAt: new Date(Date.now() + pauseBefore(look.looks, 0)),
    maxAttempts: MOST_ATTEMPTS,
    priority: PRIORITY,
  };
}

/** Ends the looks at the question of a node: it takes the place of the job that would look next. */
export function remoteLookOver({ runId, node }: Omit<LookOver, 'over'>): Job {
  return { name: LOOK_AT_REMOTE, key: remoteLookKey({ runId, node }), payload: { runId, node, over: true } };
}

export function remoteLookKey({ runId, node }: Pick<RemoteLook, 'runId' | 'node'>): string {
  return `${LOOK_AT_REMOTE}/${runId}/${node}`;
}

/** Returns the job's own next look, to be enqueued after `pause` milliseconds. */
export function nextLook(look: RemoteLook, pause: number): NextLook {
  const limits = { maxAttempts: MOST_ATTEMPTS, priority: PRIORITY };
  return { name: LOOK_AT_REMOTE, key: remoteLookKey(look), payload: look, pause, ...limits };
}

export interface NextLook {
  name: string;
  key: string;
  payload: RemoteLook;
  /** Milliseconds. */
  pause: number;
  maxAttempts: number;
  priority: number;
}

/** @throws ZodError for a payload of another shape */
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
