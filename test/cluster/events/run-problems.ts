import type { JsonObject } from '#libs/protocol';
import type { FakeAgent } from '../../support/fake-agent.js';
import { hasEnded, logProblems, type StoredLog } from '../../support/stored-log.js';

/** Call of a remote agent, as a run's log records it. */
interface Call {
  messageId: string;
  taskId?: string;
  /** Time at which the agent's answer was committed, in milliseconds since 1970. */
  knownAt?: number;
  isCanceled?: boolean;
}

interface Note {
  type: string;
  node_id?: string;
  instance?: string;
  payload: JsonObject;
}

const ENDS = new Set(['node.completed', 'node.error', 'node.canceled', 'loop.ended', 'run.ending', 'each.started']);
const OVER = new Set(['node.completed', 'node.error', 'node.retrying', 'node.canceled', 'a2a.received']);

/**
 * Returns the problems in the logs of a run and of its inner runs, and in the calls that the agent received for them.
 */
export function runProblems(logs: readonly StoredLog[], agent: FakeAgent): string[] {
  return logs.flatMap((log) => [
    ...logProblems(log),
    ...(hasEnded(log) ? [] : [`task ${log.taskId} (${log.agent}) is ${log.state}`]),
    ...endedTwice(log),
    ...callsOf(log).flatMap((call) => callProblems(call, agent)),
  ]);
}

function endedTwice(log: StoredLog): string[] {
  const ends = notesOf(log).flatMap(({ type, node_id: id = '', instance = id, payload }) =>
    ENDS.has(type) ? [`${type} ${instance} ${JSON.stringify([payload['edge'], payload['path']])}`] : [],
  );
  return ends.flatMap((it, index) => (ends.indexOf(it) === index ? [] : [`task ${log.taskId} has ${it} twice`]));
}

/**
 * Returns the problems of a call: an agent that has answered may not be called again, and an abandoned Task must be
 * canceled.
 */
function callProblems({ messageId, taskId, knownAt = Infinity, isCanceled }: Call, agent: FakeAgent): string[] {
  const sends = agent.sends.filter(({ message }) => message?.messageId === messageId);
  if (sends.length === 0) return [];
  const late = sends.filter(({ time }) => time > knownAt);
  const text = sends[0]?.text;
  return [
    ...(late.length > 0 ? [`"${text}" was sent again when it had answered`] : []),
    ...(isCanceled && taskId !== undefined && !agent.cancels.includes(taskId) ? [`"${text}" was not canceled`] : []),
  ];
}

function callsOf(log: StoredLog): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Call>();
  for (const { type, node_id: id = '', instance = id, payload, at } of notesOf(log)) {
    if (type === 'a2a.sending' && payload['taskId'] === undefined) {
      const call: Call = { messageId: String(payload['messageId']) };
      calls.push(call);
      open.set(instance, call);
    }
    const call = open.get(instance);
    if (call === undefined || !OVER.has(type)) continue;
    const { failure, fallback } = payload as { failure?: { kind?: string }; fallback?: true };
    if (typeof payload['taskId'] === 'string') call.taskId = payload['taskId'];
    if (type === 'node.canceled' || failure?.kind === 'timeout') call.isCanceled = true;
    // A Message that was on its way when it was given up may still arrive.
    else if (!fallback) call.knownAt ??= at;
  }
  return calls;
}

function notesOf({ events }: StoredLog): (Note & { at: number })[] {
  return events.flatMap(({ json, at }) => {
    const [event] = Object.values(JSON.parse(json) as Record<string, { metadata?: Record<string, Note> }>);
    const note = event?.metadata?.['parley/event'];
    return note ? [{ ...note, at: Date.parse(at) }] : [];
  });
}
