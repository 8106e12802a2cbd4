import { dataPart, type JsonValue } from '#libs/protocol';
import { FakeAgents, type FakeCall } from './fake-agents.js';

type Behaviour = (call: FakeCall) => void;

/**
 * Creates agents that answer with the name of their node, except the nodes in `others`.
 * @param others behavior of the agent, by node id
 */
export function answering(others: Record<string, Behaviour> = {}): FakeAgents {
  return new FakeAgents((call) => (others[call.node] ?? answer)(call));
}

export const answer: Behaviour = (call) => call.complete(`${call.node} done`);
export const fail: Behaviour = (call) => call.finish('TASK_STATE_FAILED', 'boom');
export const hang: Behaviour = (call) => void call.task();

/** Creates a behavior that answers with data. */
export function says(data: JsonValue): Behaviour {
  return (call) => call.complete(dataPart(data));
}

/**
 * Creates a behavior that uses one of `behaviours` for each attempt, in order; the last one for all further attempts.
 */
export function inTurn(...behaviours: Behaviour[]): Behaviour {
  return (call) => {
    const attempt = Number(call.attempt.split('#')[1] ?? 1);
    behaviours[Math.min(attempt, behaviours.length) - 1]?.(call);
  };
}
