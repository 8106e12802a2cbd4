import type { NodeTypes } from '#libs/executor';
import type { ModelMessage } from '#libs/models';
import { type WorkflowProblem, workflowSchema } from '#libs/orchestrator';
import type { JsonObject } from '#libs/protocol';
import { GENERATION_EXAMPLES } from './generation-examples.js';
import type { NameableThings } from './nameable.js';
import { nodeSentence } from './node-sentences.js';

/** Maximum problems in one prompt. */
const MOST_PROBLEMS = 30;

const TASK = `You write workflow definitions for Parley, a service that runs graphs of agents.
Answer with one JSON object, the definition, and nothing else: no explanation and no code fence.

Rules:
- A node begins when the nodes with an edge to it have finished. Edges form no cycle, except edges with "loop".
- Each id is unique and has only letters, digits and _, so that {{id}} can refer to it in prompts of later nodes.
- What a run takes comes in through nodes of the type input. What it gives goes out through nodes of the type output.
- Set "language" to 2 where a text has \${…} or an edge has "when".
- Name only workflows, models, tools and agents from the list of names. Leave "model" out unless one is asked for.
- Never write "auth" or any other secret.
- Use as few nodes as the description needs. Write a "description" of the workflow. Leave "position" out.`;

const CHANGE = `The user message has a current definition. Change only what the description asks for.
For a node that stays as it is, write {"id": "its id", "unchanged": true}; the service puts the node in that place.
Repeat every other member of the current definition, such as "language", "edges" and "onExit", unless it changes.`;

/** Subject of a prompt. */
export interface PromptSubject {
  description: string;
  /** Definition to change, as models may see it. */
  current: JsonObject | undefined;
  names: NameableThings;
}

/** Prompts of one service. The rules of its definitions are the same for every request. */
export class GenerationPrompt {
  private readonly rules: string;

  constructor(nodeTypes: NodeTypes) {
    const examples = GENERATION_EXAMPLES.map((it) => `${it.description}\n${JSON.stringify(it.workflow)}`);
    this.rules = [
      TASK,
      `The types of nodes:\n${nodeTypes.names.map(nodeSentence).join('\n')}`,
      `The JSON Schema of a definition:\n${JSON.stringify(workflowSchema(nodeTypes))}`,
      ...examples.map((example, index) => `Example ${index + 1}: ${example}`),
    ].join('\n\n');
  }

  /** Returns the messages of the first call. Texts of callers stand in the user message, as data. */
  firstMessages({ description, current, names }: PromptSubject): ModelMessage[] {
    const rules = current ? `${this.rules}\n\n${CHANGE}` : this.rules;
    const said = [
      `Names that nodes may use, as data: ${JSON.stringify(names)}`,
      ...(current ? [`The current definition:\n${JSON.stringify(current)}`] : []),
      `The description:\n${description}`,
    ];
    return [
      { role: 'system', parts: [{ text: rules }] },
      { role: 'user', parts: [{ text: said.join('\n\n') }] },
    ];
  }
}

/** Returns the messages that ask a model to repair an answer. */
export function repairMessages(answer: string, problems: readonly WorkflowProblem[]): ModelMessage[] {
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ severity, path, detail }) => `- ${severity} at ${path === '' ? 'the definition' : path}: ${detail}`);
  const text =
    `The service refuses this definition:\n${lines.join('\n')}\n\n` +
    'Answer with the whole definition again, without these errors, and nothing else.';
  return [
    { role: 'assistant', parts: [{ text: answer }] },
    { role: 'user', parts: [{ text }] },
  ];
}

/** Returns the number of characters of messages. */
export function charactersOf(messages: readonly ModelMessage[]): number {
  const parts = messages.flatMap((message) => ('parts' in message ? message.parts : []));
  return parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
}
