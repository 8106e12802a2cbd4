import type { StreamResponse } from '#libs/protocol';
import { runEventNote } from '#libs/protocol';
import type { StoredLog } from '../../support/stored-log.js';
import { callName, LOOK, STEPS } from './tool-world.js';

/** Call of a tool, as the log of an agent's Task records it. */
interface LoggedCall {
  tool: string;
  text: string;
  /** Times at which the call was about to be made, in milliseconds since 1970. */
  madeAt: number[];
  /** Number of questions to a person if the call shall be repeated. */
  asked: number;
  results: number;
}

/** Numbers of the tool calls in the runs of a trial. */
export interface CallCounts {
  calls: number;
  /** Number of calls that were made, or may have been made, more than once. */
  repeated: number;
  asked: number;
}

/**
 * Returns the problems of an agent's calls. Each call must arrive once. A repeatable call may arrive once more, any
 * other call once more after a question, in both cases only if a replica was killed between the call and its result.
 * @param called number of arrivals of each call
 * @param kills times at which replicas were killed
 * @param expected number of calls that must be in the log
 */
export function agentProblems(
  log: StoredLog,
  called: ReadonlyMap<string, number>,
  kills: readonly number[],
  expected = 2 * STEPS,
): { problems: string[]; counts: CallCounts } {
  const calls = callsOf(log);
  const problems = calls.flatMap((call) => {
    const name = callName(call.tool, call.text);
    const arrived = called.get(name) ?? 0;
    const again = call.madeAt.slice(1);
    const free = call.tool === LOOK ? 1 : 0;
    return [
      ...(arrived < 1 ? [`${name} was never called`] : []),
      ...(arrived > call.madeAt.length ? [`${name} arrived ${arrived} times, called ${call.madeAt.length} times`] : []),
      ...(again.length > free + call.asked ? [`${name} was repeated ${again.length} times, asked ${call.asked}`] : []),
      ...(again.some((at, index) => !wasKilled(call.madeAt[index] ?? 0, at, kills))
        ? [`${name} was repeated though no replica was killed meanwhile`]
        : []),
      ...(call.results !== 1 ? [`${name} has ${call.results} results`] : []),
    ];
  });
  const complete = calls.length === expected ? [] : [`${calls.length} calls, and not ${expected}`];
  const sum = (of: (call: LoggedCall) => number): number => calls.reduce((all, call) => all + of(call), 0);
  return {
    problems: [...complete, ...problems].map((it) => `task ${log.taskId} (${log.agent}): ${it}`),
    counts: {
      calls: calls.length,
      repeated: calls.filter(({ madeAt }) => madeAt.length > 1).length,
      asked: sum(({ asked }) => asked),
    },
  };
}

function wasKilled(from: number, to: number, kills: readonly number[]): boolean {
  return kills.some((at) => at >= from && at <= to);
}

function callsOf({ events }: StoredLog): LoggedCall[] {
  const calls = new Map<string, LoggedCall>();
  for (const { json, at } of events) {
    const event = JSON.parse(json) as StreamResponse;
    if (!('statusUpdate' in event)) continue;
    const { metadata } = event.statusUpdate;
    const note = runEventNote(metadata);
    const {
      id = '',
      tool = '',
      args,
    } = (note?.payload ?? {}) as { id?: string; tool?: string; args?: { text: string } };
    const call = calls.get(id) ?? { tool, text: args?.text ?? '', madeAt: [], asked: 0, results: 0 };
    if (note?.type === 'tool.call') {
      call.madeAt.push(Date.parse(at));
      calls.set(id, call);
    }
    if (note?.type === 'tool.result') call.results += 1;
    const question = metadata?.['parley/question'] as { about: string; call: string } | undefined;
    const about = calls.get(question?.call ?? '');
    if (question?.about === 'repetition' && about) about.asked += 1;
  }
  return [...calls.values()];
}
