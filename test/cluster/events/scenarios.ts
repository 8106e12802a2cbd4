import type { JsonObject } from '#libs/protocol';
import type { FakeAgent, FakeCall } from '../../support/fake-agent.js';
import { after, answers, ends, type FakeBehaviour, holds } from '../../support/fake-behaviour.js';
import type { Api, Run, Workflow } from '../../support/workflow.js';
import { everyConstruct, failingOnce, tooLate } from './every-construct.js';
import { endOf, insistently } from './insistently.js';

/** A kind of run whose replica is killed after each of its events, or of those of one of its Tasks. */
export interface Scenario {
  name: string;
  define(workflow: string, agentUrl: string): Workflow;
  /** The path of the agent whose log is counted; `A of B`: of a Task that agent A made for a Task of agent B. */
  watched(workflow: string): string;
  /** What there is to be before, undisturbed; its result is given to `begin`. */
  prepare?(api: Api, workflow: string, about: string): Promise<string>;
  /** @returns the id of the run */
  begin(api: Api, workflow: string, about: string, prepared: string): Promise<string>;
  /** What has to be the same in every run, but for what the run is called. */
  outcome(run: Run): unknown;
}

const itself = (workflow: string): string => `workflows/${workflow}`;

/** The run starts once, however often it has to be asked for. */
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

/** On a busy machine the race may be over before its other runner begins, which is skipped then and not canceled. */
function lostRace(status: string): string {
  return status === 'skipped' ? 'canceled' : status;
}

/** @param waits see everyConstruct */
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

/** An agent of all runs, which does not know what it has done before but by its calls. */
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
