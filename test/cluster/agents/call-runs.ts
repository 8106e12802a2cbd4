import type { JsonObject, StreamResponse } from '#libs/protocol';
import { runEventNote } from '#libs/protocol';
import type { FakeCall } from '../../support/fake-agent.js';
import type { FakeBehaviour } from '../../support/fake-behaviour.js';
import type { FakeAnswer } from '../../support/fake-llm.js';
import type { StoredLog } from '../../support/stored-log.js';
import { echo, input, linear, output, type Run, script, type Workflow } from '../../support/workflow.js';
import { type Scenario, startOnce } from '../events/scenarios.js';

/** Id of the node whose model calls two agents by tools: a node of the same workflow, and a remote agent. */
export const CALLER = 'caller';
const HELPER = 'helper';
const SYSTEM = 'You are the caller.';

function define(workflow: string, agentUrl: string): Workflow {
  const tools = [
    { agent: `workflows/${workflow}/nodes/${HELPER}`, name: HELPER },
    { agent: agentUrl, name: 'other' },
  ];
  return linear(
    workflow,
    input('in'),
    echo(CALLER, { prompt: '{{in}}', system_prompt: SYSTEM, tools }),
    script(HELPER, { status: 'working' }, { sleep: 30 }, { complete: 'helped' }),
    output('out', { prompt: '{{caller}}' }),
  );
}

function outcome({ status, error, inputs, state }: Run): unknown {
  const about = String(inputs['in']);
  return { status, error, texts: [CALLER, 'out'].map((id) => String(state[id]).replaceAll(about, 'it')) };
}

/** Scenario of a run whose replica is killed at the events of the node CALLER. */
export const CALL_RUNS: readonly Scenario[] = [
  { name: CALLER, define, watched: (it) => `workflows/${it}/nodes/${CALLER}`, begin: startOnce, outcome },
];

/** Returns the remote agent's answer. Its Task is visible before the text. */
export function otherAnswer({ text = '' }: FakeCall): FakeBehaviour {
  const parts = [{ text: `heard ${text}` }];
  return {
    steps: [
      { status: 'TASK_STATE_WORKING' },
      { sleep: 30 },
      { artifact: { parts } },
      { status: 'TASK_STATE_COMPLETED' },
    ],
  };
}

interface Said {
  role: string;
  content: string;
}

/**
 * Returns the answer of the caller's model: a call of one agent after the other, then the results; `undefined` for
 * another node.
 */
export function callerAnswer(body: JsonObject): FakeAnswer | undefined {
  const said = body['messages'] as unknown as Said[];
  if (!said.some(({ role, content }) => role === 'system' && content.startsWith(SYSTEM))) return undefined;
  const about = said.findLast(({ role }) => role === 'user')?.content ?? '';
  const results = said.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const [name] = [HELPER, 'other'].slice(results.length);
  if (name === undefined) return { text: results.map(textOf).join(', ') };
  return { toolCalls: [{ id: name, name: `agent__${name}`, args: { message: messageTo(name, about) } }] };
}

const messageTo = (name: string, about: string): string => `${name} of ${about}`;

function textOf(result: string): string {
  return (JSON.parse(result) as { text?: string }).text ?? result;
}

/**
 * Returns the problems of the calls in a trial: each must have one result, and the remote agent may get a Message again
 * only after a question. `talkProblems` checks the Tasks of agents of this service.
 * @param sends requests with Messages that the remote agent received
 */
export function callProblems(logs: readonly StoredLog[], sends: readonly FakeCall[]): string[] {
  const callers = logs.filter(({ agent }) => agent.endsWith(`/nodes/${CALLER}`));
  return callers.flatMap(({ taskId, events }) => {
    const notes = events.map(({ json }) => noteOf(JSON.parse(json) as StreamResponse));
    const args = notes.find(({ type, tool }) => type === 'tool.call' && tool === 'agent:other')?.args;
    const arrived = sends.filter(({ text }) => text === args?.['message']).length;
    const asked = notes.filter(({ question }) => question === 'repetition').length;
    const results = notes.filter(({ type }) => type === 'tool.result').length;
    return [
      ...(results === 2 ? [] : [`${results} results of 2 calls`]),
      ...(arrived >= 1 && arrived <= 1 + asked ? [] : [`${arrived} Messages to the other agent, asked ${asked} times`]),
    ].map((problem) => `task ${taskId} (${CALLER}): ${problem}`);
  });
}

interface Note {
  type?: string;
  tool?: string;
  args?: JsonObject;
  question?: string;
}

function noteOf(event: StreamResponse): Note {
  const metadata = 'statusUpdate' in event ? event.statusUpdate.metadata : undefined;
  const note = runEventNote(metadata);
  const question = metadata?.['parley/question'] as { about: string } | undefined;
  const { tool, args } = (note?.payload ?? {}) as { tool?: string; args?: JsonObject };
  return {
    ...(note && { type: note.type }),
    ...(tool !== undefined && { tool }),
    ...(args && { args }),
    ...(question && { question: question.about }),
  };
}
