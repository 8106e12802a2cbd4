import { dataPart, type JsonValue } from '#libs/protocol';
import { FakeAgents, type FakeCall } from './fake-agents.js';

type Behaviour = (call: FakeCall) => void;

/** Agents that answer with their node's name, unless something else is said of it. */
export function answering(others: Record<string, Behaviour> = {}): FakeAgents {
  return new FakeAgents((call) => (others[call.node] ?? answer)(call));
}

export const answer: Behaviour = (call) => call.complete(`${call.node} done`);
export const fail: Behaviour = (call) => call.finish('TASK_STATE_FAILED', 'boom');
export const hang: Behaviour = (call) => void call.task();

/** Answers with data. */
export function says(data: JsonValue): Behaviour {
  return (call) => call.complete(dataPart(data));
}

/** One after the other, by the attempt that is made; the last one for all that follow. */
export function inTurn(...behaviours: Behaviour[]): Behaviour {
  return (call) => {
    const attempt = Number(call.attempt.split('#')[1] ?? 1);
    behaviours[Math.min(attempt, behaviours.length) - 1]?.(call);
  };
}
