import type { JsonObject } from '#libs/protocol';
import type { FakeAgent, FakeCall } from '../../support/fake-agent.js';
import { after, answers, ends, type FakeBehaviour, holds } from '../../support/fake-behaviour.js';
import type { Api, Run, Workflow } from '../../support/workflow.js';
import { everyConstruct, failingOnce, tooLate } from './every-construct.js';
import { endOf, insistently } from './insistently.js';

/** Kind of run whose replica is killed after each of its events, or after each event of one of its Tasks. */
export interface Scenario {
  name: string;
  define(workflow: string, agentUrl: string): Workflow;
  /** Returns the path of the agent whose log is watched; `A of B`: the Task that agent A has for a Task of agent B. */
  watched(workflow: string): string;
  /** Prepares what the run needs, undisturbed. Its result is passed to `begin`. */
  prepare?(api: Api, workflow: string, about: string): Promise<string>;
  /** Begins the run. @returns its id */
  begin(api: Api, workflow: string, about: string, prepared: string): Promise<string>;
  /** Returns the part of the outcome that must be equal in all runs, without the name of the run. */
  outcome(run: Run): unknown;
}

const itself = (workflow: string): string => `workflows/${workflow}`;

/** Starts a run once, however often the request has to be repeated. */
export function startOnce(api: Api, workflow: string, about: string): Promise<string> {
  return insistently(() => api.start(workflow, { in: about }, { 'idempotency-key': about }));
}

function rerun(api: Api, origin: string): Promise<string> {
  return insistently(async () => {
    const { body } = await api.call<{ forks: { runId: string }[] }>('GET', `/runs/${origin}/forks`);
    if (body.forks[0]) return body.forks[0].runId;
    const reply = await api.call<{ runId: string }>('POST', `/runs/${origin}/rerun`, { failed: true });
    if (reply.status !== 202) throw new Error(`The rerun was refused: ${reply.status} ${reply.text}`);
    return reply.body.runId;
  });
}

function everything({ status, error, nodes, state }: Run): unknown {
  const shown = Object.entries(nodes).map(([id, node]) => [id, id === 'slow' ? lostRace(node.status) : node.status]);
  return { status, error, out: state['out'], nodes: Object.fromEntries(shown) as JsonObject };
}

/**
 * Returns the status of the loser of a race. On a busy machine the race may be over before the loser begins; it is then
 * skipped and not canceled.
 */
function lostRace(status: string): string {
  return status === 'skipped' ? 'canceled' : status;
}

/** @param waits duration of the wait (see everyConstruct) */
export function scenarios(waits: string): Scenario[] {
  const define = (workflow: string, url: string): Workflow => everyConstruct(workflow, url, waits);
  return [
    { name: 'whole', define, watched: itself, begin: startOnce, outcome: everything },
    { name: 'child', define, watched: (it) => `${itself(it)}/nodes/child`, begin: startOnce, outcome: everything },
    {
      name: 'rerun',
      define: failingOnce,
      watched: itself,
      prepare: async (api, workflow, about) => (await endOf(api, await startOnce(api, workflow, about))).runId,
      begin: (api, _workflow, _about, origin) => rerun(api, origin),
      outcome: everything,
    },
    {
      name: 'late',
      define: tooLate,
      watched: itself,
      begin: startOnce,
      // What was under way by then hangs on how long a take-over takes.
      outcome: ({ status, error, nodes }) => ({ status, error, exit: nodes['exit']?.status }),
    },
  ];
}

/** Returns the behavior of the agent for all runs. It knows what it has done before only from its calls. */
export function behaviour(agent: FakeAgent): (call: FakeCall) => FakeBehaviour {
  const MS = 40;
  return ({ text = '', message }) => {
    const isFirst = !agent.sends.some((it) => it.text === text && it.message?.messageId !== message?.messageId);
    if (/^(slow|silent)/.test(text)) return holds();
    if (text.startsWith('bad')) return after(MS, ends('TASK_STATE_FAILED', 'boom'));
    if (text.startsWith('once') && isFirst) return after(MS, ends('TASK_STATE_FAILED', 'not yet'));
    if (text.startsWith('entry 2 of whole-') && isFirst) return after(MS, { httpStatus: 503 });
    return after(MS, answers(`did ${text.split(' of ')[0]}`));
  };
}
