import type { JsonObject } from '#libs/protocol';
import type { FakeAnswer } from '../../support/fake-llm.js';
import { echo, input, linear, output, type Run, type Workflow } from '../../support/workflow.js';
import type { Scenario } from '../events/scenarios.js';
import { startOnce } from '../events/scenarios.js';

/** Id of the node whose model starts a conversation by a tool. CRITIC is the node that it talks to. */
const POET = 'poet';
export const CRITIC = 'critic';

/** Number of turns after the first answer. */
const MOST_TURNS = 3;

function define(workflow: string): Workflow {
  const talk = { agent: `workflows/${workflow}/nodes/${CRITIC}`, name: CRITIC, talk: { maxTurns: MOST_TURNS } };
  return linear(
    workflow,
    input('in'),
    echo(POET, { prompt: '{{in}}', system_prompt: 'You are the poet.', tools: [talk] }),
    echo(CRITIC, { prompt: 'read this', system_prompt: 'You are the critic.', tools: ['web/*'] }),
    output('out', { prompt: '{{poet}}' }),
  );
}

/** Returns the outcome of a run, without the name of its workflow. */
function outcome({ status, error, inputs, state }: Run): unknown {
  const about = String(inputs['in']);
  return { status, error, texts: [POET, CRITIC, 'out'].map((id) => String(state[id]).replaceAll(about, 'it')) };
}

const talks = { define, begin: startOnce, outcome };

/**
 * Scenarios with the same run, which kill at the events of the node that calls the tool, of the conversation, and of
 * one turn.
 */
export const TALK_RUNS: readonly Scenario[] = [
  { ...talks, name: 'poet', watched: (it) => `workflows/${it}/nodes/${POET} of workflows/${it}` },
  { ...talks, name: 'conversation', watched: (it) => `conversations of workflows/${it}/nodes/${POET}` },
  { ...talks, name: 'critic', watched: (it) => `workflows/${it}/nodes/${CRITIC} of conversations` },
];

interface Said {
  role: string;
  content: string;
}

/**
 * Returns the answer of a node's model in such a run; `undefined` for another node. The critic calls a tool in each
 * turn, and the poet's last text repeats all texts of the conversation.
 */
export function talkAnswer(body: JsonObject): FakeAnswer | undefined {
  const said = body['messages'] as unknown as Said[];
  const system = said.find(({ role }) => role === 'system')?.content ?? '';
  const turn = /This is turn (\d+);/.exec(system)?.[1];
  if (system.startsWith('You are the poet.')) return turn === undefined ? beginning(said) : { text: next(said, POET) };
  if (!system.startsWith('You are the critic.')) return undefined;
  if (turn === undefined) return { text: 'it was read' };
  const args = { text: `${aboutIn(said)}/${turn}` };
  return said.at(-1)?.role === 'tool'
    ? { text: next(said, CRITIC) }
    : { toolCalls: [{ id: `look-${turn}`, name: 'web__look', args }] };
}

function beginning(said: readonly Said[]): FakeAnswer {
  const result = said.find(({ role }) => role === 'tool')?.content;
  if (result !== undefined) return { text: textsIn(result).join(', ') };
  const about = said.findLast(({ role }) => role === 'user')?.content ?? '';
  return { toolCalls: [{ id: 'talk', name: `agent__${CRITIC}`, args: { message: `0 of ${about}` } }] };
}

/** Returns the text that follows the one in the model's request. It contains the turn and the name of the run. */
function next(said: readonly Said[], speaker: string): string {
  const last = said.findLast(({ role }) => role === 'user')?.content ?? '';
  return `${Number(/\d+/.exec(last)?.[0]) + 1} of ${aboutIn(said)} by the ${speaker}`;
}

function aboutIn(said: readonly Said[]): string {
  const last = said.findLast(({ role }) => role === 'user')?.content ?? '';
  return / of (\S+)/.exec(last)?.[1] ?? '';
}

function textsIn(result: string): string[] {
  const { turns = [] } = JSON.parse(result) as { turns?: { text: string }[] };
  return turns.map(({ text }) => text);
}
