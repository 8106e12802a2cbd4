import type { StreamResponse } from '#libs/protocol';
import type { FakeAgent, FakeCall } from '../../support/fake-agent.js';
import type { Claimed } from '../../support/idle-claims.js';
import { hasEnded, logProblems, type StoredLog } from '../../support/stored-log.js';
import type { ClientLog, Told } from './client-log.js';
import type { Failover } from './failover-driver.js';
import { type CallCounts, overcalledAgents, QuestionLimits } from './overcalls.js';
import { type NodeHistory, nodeHistories } from './node-history.js';
import { settlingMs } from './settling.js';
import { type BrokenTime, type Takeovers, thefts } from './takeovers.js';

const LATE_MS = 60_000;
/** Maximum characters that are shown of an event of a stuck Task. */
const SHOWN_CHARACTERS = 400;

/** Breaches of promises by kind, one sentence each. All lists are empty if every promise was kept. */
export interface Verdict {
  /** Facts that a client knows and that the database does not contain. */
  lost: string[];
  /** Work that was done twice, events that were reported twice, and Messages that were accepted twice. */
  doubled: string[];
  /** Tasks that did not end in time. */
  stuck: string[];
  /** Logs and streams whose sequences are not 1..n. */
  reordered: string[];
  /** Tasks that failed although nothing in them fails. */
  failed: string[];
  /** Internal errors, which no caller may get. */
  internal: string[];
  /** Tasks that a replica claims but does not execute. */
  idle: string[];
  /** Parked Tasks that were due long ago. */
  asleep: string[];
  /** Tasks that took longer than a minute while there was a leader; empty if PostgreSQL has no leaders. */
  late: string[];
  /** Calls of an agent or a model beyond the first one and one more for each takeover of the calling Task. */
  overcalled: string[];
  /** Times of schedules that were lost, decided early or twice, or have no run of their own. */
  misfired: string[];
  /** Tasks that were taken over from a living replica which no fault had suspended or disconnected. */
  stolen: string[];
}

/** Observations of a trial that are compared with the database. */
export interface Evidence {
  log: ClientLog;
  agents: readonly FakeAgent[];
  claims: readonly Claimed[];
  asleep: readonly string[];
  failovers: readonly Failover[];
  /** Breaches that the schedules found (see TriedSchedules). */
  misfired: string[];
  takeovers: Takeovers;
  /** Periods in which other replicas may take over the Tasks of each process. */
  broken: ReadonlyMap<number, readonly BrokenTime[]>;
  /** Number of calls of the model, by the question. */
  asked: CallCounts;
}

/** Compares the observations of clients and agents with the database, page by page, since it may exceed the memory. */
export class Judge {
  /** Number of Tasks in the database. */
  tasks = 0;
  /** Maximum time that a Task took while there was a leader (see settlingMs), in milliseconds. */
  settledMs = 0;
  private readonly verdict: Verdict;
  private readonly told: Map<string, Told[]>;
  private readonly sends: Map<string | undefined, FakeCall[]>;
  private readonly sendCounts: CallCounts;
  /** Tasks by what created them: a Message at an agent. */
  private readonly made = new Map<string, number>();
  private readonly questions: QuestionLimits;

  constructor(private readonly evidence: Evidence) {
    const { log, agents, claims, asleep, asked, takeovers } = evidence;
    this.told = Map.groupBy(log.tasks, ({ taskId }) => taskId);
    this.sends = Map.groupBy(
      agents.flatMap((agent) => agent.sends),
      ({ message }) => message?.messageId,
    );
    this.sendCounts = new Map([...this.sends].map(([id, calls]) => [id ?? '', calls.length]));
    this.questions = new QuestionLimits(asked, takeovers);
    this.verdict = {
      ...{ lost: [], doubled: [], late: [], overcalled: [] },
      stuck: log.tasks
        .filter(({ state }) => state === undefined)
        .map(({ kind, taskId }) => `${kind} ${taskId} has no end`),
      reordered: log.tasks.flatMap(disorderOf),
      failed: [...log.absurd],
      internal: log.improper,
      idle: claims.map(({ taskId, agent, replicaId }) => `task ${taskId} (${agent}) is claimed by ${replicaId} alone`),
      asleep: asleep.map((taskId) => `task ${taskId} is due, and nobody has woken it`),
      misfired: evidence.misfired,
      stolen: thefts(takeovers, evidence.broken),
    };
  }

  /** Checks some Tasks. Each Task is passed once. */
  compare(stored: readonly StoredLog[]): void {
    const { failovers, takeovers } = this.evidence;
    const { verdict } = this;
    this.tasks += stored.length;
    for (const it of stored) {
      this.compareTold(it);
      const message = `Message ${userMessages(it)[0]} at ${it.agent}`;
      this.made.set(message, (this.made.get(message) ?? 0) + 1);
      if (!hasEnded(it)) verdict.stuck.push(stuckAt(it));
      if (hasFailed(it)) verdict.failed.push(`task ${it.taskId} (${it.agent}): ${reasonOf(it)}`);
      verdict.reordered.push(...logProblems(it));
      if (failovers.length > 0) verdict.late.push(...this.latenessOf(it));
      this.questions.raise(it);
    }
    verdict.doubled.push(...doubledWork(stored.flatMap(nodeHistories), this.sends));
    verdict.overcalled.push(...overcalledAgents(stored, this.sendCounts, takeovers));
  }

  /** Returns the verdict. Call it after every Task of the database was compared. */
  conclude(): Verdict {
    const { verdict } = this;
    for (const told of [...this.told.values()].flat()) {
      verdict.lost.push(`${told.kind} ${told.taskId} is gone`);
      verdict.doubled.push(...doublesOf(told, undefined));
    }
    for (const [message, tasks] of this.made) if (tasks > 1) verdict.doubled.push(`${message} made ${tasks} Tasks`);
    verdict.overcalled.push(...this.questions.exceeded());
    return verdict;
  }

  private compareTold(log: StoredLog): void {
    for (const told of this.told.get(log.taskId) ?? []) {
      this.verdict.lost.push(...lossesOf(told, log));
      this.verdict.doubled.push(...doublesOf(told, log));
    }
    this.told.delete(log.taskId);
  }

  private latenessOf(log: StoredLog): string[] {
    const ms = settlingMs(log, this.evidence.failovers);
    this.settledMs = Math.max(this.settledMs, ms);
    if (ms <= LATE_MS) return [];
    return [
      `task ${log.taskId} (${log.agent}) had its last event ${(ms / 1000).toFixed(1)} s after there was a leader`,
    ];
  }
}

function lossesOf(told: Told, log: StoredLog): string[] {
  const name = `${told.kind} ${told.taskId}`;
  const changed = told.seen.filter(({ sequence, json }) => {
    const event = log.events[sequence - 1];
    return event === undefined || (json !== undefined && json !== normalised(event.json));
  });
  const users = userMessages(log);
  return [
    ...changed.map(({ sequence }) => `${name}: its event ${sequence} is not what a reader was told`),
    ...(told.state !== undefined && told.state !== log.state ? [`${name} was ${told.state}, is ${log.state}`] : []),
    ...told.heard.filter((id) => !users.includes(id)).map((id) => `${name}: Message ${id} is gone`),
  ];
}

function doublesOf(told: Told, log: StoredLog | undefined): string[] {
  const twice = repeated(told.seen.map(({ sequence }) => String(sequence)));
  const messages = log === undefined ? [] : repeated(userMessages(log));
  const name = `${told.kind} ${told.taskId}`;
  return [
    ...twice.map((sequence) => `${name}: a reader was told event ${sequence} twice`),
    ...messages.map((id) => `${name}: Message ${id} was taken twice`),
  ];
}

function disorderOf({ kind, taskId, seen }: Told): string[] {
  const wrong = seen.findIndex(({ sequence }, index) => sequence !== index + 1);
  return wrong < 0 ? [] : [`${kind} ${taskId}: a reader was told ${seen[wrong]?.sequence} as the ${wrong + 1}th event`];
}

function doubledWork(nodes: readonly NodeHistory[], sends: Map<string | undefined, FakeCall[]>): string[] {
  return nodes.flatMap(({ run, node, messageId, completedAt }) => {
    const end = completedAt[0]?.getTime() ?? Infinity;
    const late = (sends.get(messageId) ?? []).filter(({ time }) => time > end);
    return [
      ...(completedAt.length > 1 ? [`run ${run}: ${node} was completed ${completedAt.length} times`] : []),
      ...late.map(() => `run ${run}: ${node} was called after it was completed`),
    ];
  });
}

function userMessages({ events }: StoredLog): string[] {
  return events.flatMap(({ json, received }) => {
    const event = JSON.parse(json) as StreamResponse;
    const ids = 'task' in event ? (event.task.history ?? []).map(({ messageId }) => messageId) : [];
    return received === null ? ids : [...ids, received];
  });
}

/** Describes a Task that has not ended by its row and log, since the trial's database is removed afterwards. */
function stuckAt({ taskId, agent, state, claimed, events }: StoredLog): string {
  const held = claimed ? 'claimed by a replica' : 'claimed by no replica';
  const ends = events
    .slice(-3)
    .map(({ sequence, at, json }) => `${sequence} at ${at}: ${json.slice(0, SHOWN_CHARACTERS)}`);
  return [`task ${taskId} (${agent}) is ${state}, ${held}; its last events:`, ...ends].join('\n    ');
}

function hasFailed({ state }: StoredLog): boolean {
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED';
}

function reasonOf({ events }: StoredLog): string {
  const event = JSON.parse(events.at(-1)?.json ?? '{}') as Partial<Extract<StreamResponse, { statusUpdate: unknown }>>;
  return JSON.stringify(event.statusUpdate?.status.message?.parts ?? event);
}

function normalised(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

function repeated(items: readonly string[]): string[] {
  return [...Map.groupBy(items, (it) => it)].filter(([, of]) => of.length > 1).map(([it]) => it);
}
