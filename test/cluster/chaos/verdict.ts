import type { StreamResponse } from '#libs/protocol';
import type { FakeAgent } from '../../support/fake-agent.js';
import type { Claimed } from '../../support/idle-claims.js';
import { hasEnded, logProblems, type StoredLog } from '../../support/stored-log.js';
import type { ClientLog, Told } from './client-log.js';
import type { Failover } from './failover-driver.js';
import { type CallCounts, overcalledAgents, overcalledModel } from './overcalls.js';
import { type NodeHistory, nodeHistories } from './node-history.js';
import { settlingMs } from './settling.js';
import type { Takeovers } from './takeovers.js';

const LATE_MS = 60_000;

/** Each with one sentence for every breach of a promise; all empty where every promise was kept. */
export interface Verdict {
  /** What a client was told, and the database does not know. */
  lost: string[];
  /** Work that was done, events that were told, or Messages that were taken twice. */
  doubled: string[];
  /** What nobody finished in time. */
  stuck: string[];
  /** Logs and streams that are not 1..n. */
  reordered: string[];
  /** What failed although nothing in it fails. */
  failed: string[];
  /** Internal errors, which no caller shall get. */
  internal: string[];
  /** Tasks that a replica claims and nobody executes. */
  idle: string[];
  /** Parked Tasks whose time has come long ago. */
  asleep: string[];
  /** Tasks that took longer than a minute of time with a leader; none where PostgreSQL has no leaders. */
  late: string[];
  /** Calls of an agent or a model beyond one, and one more for each takeover of the Task that makes them. */
  overcalled: string[];
}

/** What there is to compare. */
export interface Evidence {
  log: ClientLog;
  stored: readonly StoredLog[];
  agents: readonly FakeAgent[];
  claims: readonly Claimed[];
  asleep: readonly string[];
  failovers: readonly Failover[];
  takeovers: Takeovers;
  /** Calls of the model, by the question. */
  asked: CallCounts;
}

/** Compares what clients and agents saw with what the database has. */
export function verdict({ log, stored, agents, claims, asleep, failovers, ...calls }: Evidence): Verdict {
  const byId = new Map(stored.map((it) => [it.taskId, it]));
  const nodes = stored.flatMap(nodeHistories);
  return {
    lost: log.tasks.flatMap((told) => lossesOf(told, byId.get(told.taskId))),
    doubled: [
      ...log.tasks.flatMap((told) => doublesOf(told, byId.get(told.taskId))),
      ...doubledTasks(stored),
      ...doubledWork(nodes, agents),
    ],
    stuck: [
      ...stored
        .filter((it) => !hasEnded(it))
        .map(({ taskId, agent, state }) => `task ${taskId} (${agent}) is ${state}`),
      ...log.tasks.filter(({ state }) => state === undefined).map(({ kind, taskId }) => `${kind} ${taskId} has no end`),
    ],
    reordered: [...stored.flatMap(logProblems), ...log.tasks.flatMap(disorderOf)],
    failed: [
      ...log.absurd,
      ...stored.filter(hasFailed).map((it) => `task ${it.taskId} (${it.agent}): ${reasonOf(it)}`),
    ],
    internal: log.improper,
    idle: claims.map(({ taskId, agent, replicaId }) => `task ${taskId} (${agent}) is claimed by ${replicaId} alone`),
    asleep: asleep.map((taskId) => `task ${taskId} is due, and nobody has woken it`),
    late: failovers.length === 0 ? [] : stored.flatMap((it) => latenessOf(it, failovers)),
    overcalled: [
      ...overcalledAgents(stored, sendCounts(agents), calls.takeovers),
      ...overcalledModel(stored, calls.asked, calls.takeovers),
    ],
  };
}

function lossesOf(told: Told, log: StoredLog | undefined): string[] {
  const name = `${told.kind} ${told.taskId}`;
  if (log === undefined) return [`${name} is gone`];
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

/** Messages that made more than one Task of the same agent, be they of clients or of runs. */
function doubledTasks(stored: readonly StoredLog[]): string[] {
  const made = stored.map((log) => `Message ${userMessages(log)[0]} at ${log.agent}`);
  return repeated(made).map((it) => `${it} made two Tasks`);
}

function doubledWork(nodes: readonly NodeHistory[], agents: readonly FakeAgent[]): string[] {
  const sends = Map.groupBy(
    agents.flatMap((agent) => agent.sends),
    ({ message }) => message?.messageId,
  );
  return nodes.flatMap(({ run, node, messageId, completedAt }) => {
    const end = completedAt[0]?.getTime() ?? Infinity;
    const late = (sends.get(messageId) ?? []).filter(({ time }) => time > end);
    return [
      ...(completedAt.length > 1 ? [`run ${run}: ${node} was completed ${completedAt.length} times`] : []),
      ...late.map(() => `run ${run}: ${node} was called after it was completed`),
    ];
  });
}

function sendCounts(agents: readonly FakeAgent[]): CallCounts {
  const sends = Map.groupBy(
    agents.flatMap((agent) => agent.sends),
    ({ message }) => message?.messageId ?? '',
  );
  return new Map([...sends].map(([messageId, calls]) => [messageId, calls.length]));
}

function latenessOf(log: StoredLog, failovers: readonly Failover[]): string[] {
  const ms = settlingMs(log, failovers);
  if (ms <= LATE_MS) return [];
  return [`task ${log.taskId} (${log.agent}) had its last event ${(ms / 1000).toFixed(1)} s after there was a leader`];
}

function userMessages({ events }: StoredLog): string[] {
  return events.flatMap(({ json, received }) => {
    const event = JSON.parse(json) as StreamResponse;
    const ids = 'task' in event ? (event.task.history ?? []).map(({ messageId }) => messageId) : [];
    return received === null ? ids : [...ids, received];
  });
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
