import { Injectable } from '@nestjs/common';
import type { NodeTypes } from '#libs/agents';
import { McpServerError, McpServers, McpTools } from '#libs/mcp-client';
import { type ModelMessage, ModelStore } from '#libs/models';
import { ToolRegistry } from '#libs/nodes';
import type { JsonObject } from '#libs/protocol';
import { RemoteAgentCards } from '#libs/remote-agents';
import { type WorkflowProblem, workflowSchema } from '#libs/workflow-definition';
import { WorkflowStore } from '#libs/workflows';

interface GenerationExample {
  description: string;
  workflow: JsonObject;
}

/** Example definitions in the prompt: a chain, and a workflow with a decision and a loop. */
export const GENERATION_EXAMPLES: readonly GenerationExample[] = [
  {
    description: 'Summarize a text and translate the summary into French.',
    workflow: {
      name: 'french_summary',
      description: 'Summarizes a text and translates the summary into French.',
      nodes: [
        { id: 'text', type: 'input', config: { schema: { type: 'string' } } },
        { id: 'summary', type: 'agent', config: { prompt: 'Summarize in three sentences:\n\n{{text}}' } },
        { id: 'french', type: 'agent', config: { prompt: 'Translate into French:\n\n{{summary}}' } },
        { id: 'result', type: 'output', config: { prompt: '{{french}}' } },
      ],
      edges: [
        { from: 'text', to: 'summary' },
        { from: 'summary', to: 'french' },
        { from: 'french', to: 'result' },
      ],
    },
  },
  {
    description: 'Draft an announcement, improve it up to three times until a reviewer is content, then ask a person.',
    workflow: {
      name: 'reviewed_announcement',
      description: 'Drafts an announcement that a reviewer and a person accept.',
      language: 2,
      nodes: [
        { id: 'topic', type: 'input', config: { schema: { type: 'string' } } },
        {
          id: 'draft',
          type: 'agent',
          config: {
            prompt:
              "Announce this in one paragraph: {{topic}}\n\n${iteration > 1 ? 'Advice: ' + nodes.review.data.advice : ''}",
          },
        },
        {
          id: 'review',
          type: 'agent',
          config: {
            prompt: 'Review this announcement:\n\n{{draft}}',
            output: {
              type: 'object',
              properties: { ok: { type: 'boolean' }, advice: { type: 'string' } },
              required: ['ok', 'advice'],
            },
          },
        },
        {
          id: 'approve',
          type: 'human',
          branch: 'first',
          config: {
            prompt: 'Publish this announcement?\n\n{{draft}}',
            form: { type: 'object', properties: { decision: { enum: ['yes', 'no'] } }, required: ['decision'] },
          },
        },
        { id: 'published', type: 'output', config: { prompt: '{{draft}}' } },
        { id: 'rejected', type: 'output', config: { prompt: 'The announcement was rejected.' } },
      ],
      edges: [
        { from: 'topic', to: 'draft' },
        { from: 'draft', to: 'review' },
        { from: 'review', to: 'draft', loop: { max_iterations: 3, exit_when: 'nodes.review.data.ok' } },
        { from: 'review', to: 'approve' },
        { from: 'approve', to: 'published', when: "nodes.approve.data.decision == 'yes'" },
        { from: 'approve', to: 'rejected' },
      ],
    },
  },
];

/** Maximum number of names of each kind in a prompt: workflows, models, agents, tools. */
const MOST_NAMES = 100;
/** Maximum number of MCP servers that are asked for their tools. */
const MOST_SERVERS = 20;
/** Time limit in milliseconds for MCP servers to list their tools. */
const LISTING_MS = 5_000;

/** Names that the nodes of a tenant's workflows may use. Names of credentials are not included. */
export interface NameableThings {
  workflows: string[];
  models: string[];
  /** Tools: built-in tools by name, tools of MCP servers as `server/tool`. */
  tools: string[];
  /** URLs of remote agents that the tenant has called before. */
  agents: string[];
}

/** Looks up the workflows, models, tools and agents that the nodes of a workflow may name. */
@Injectable()
export class Nameable {
  constructor(
    private readonly workflows: WorkflowStore,
    private readonly models: ModelStore,
    private readonly builtIn: ToolRegistry,
    private readonly servers: McpServers,
    private readonly mcp: McpTools,
    private readonly cards: RemoteAgentCards,
  ) {}

  /** Returns at most a hundred names of each kind. For an MCP server that does not answer, it returns `server/*`. */
  async listNames(tenant: string, signal: AbortSignal): Promise<NameableThings> {
    const [workflows, models, tools, { cards }] = await Promise.all([
      this.workflows.inTenant(tenant).listWithNodes(MOST_NAMES),
      this.models.listModels(tenant, { limit: MOST_NAMES, after: '' }),
      this.serverTools(tenant, signal),
      this.cards.listCards(tenant, { pageSize: MOST_NAMES, after: undefined }),
    ]);
    return {
      workflows: workflows.map(({ name }) => name),
      models: models.map(({ name }) => name),
      tools: [...this.builtIn.names, ...tools].slice(0, MOST_NAMES),
      // A query may contain secrets.
      agents: cards.map(({ url }) => url).filter((url) => !url.includes('?')),
    };
  }

  private async serverTools(tenant: string, signal: AbortSignal): Promise<string[]> {
    const servers = (await this.servers.listServers(tenant)).slice(0, MOST_SERVERS);
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LISTING_MS)]);
    const found = await Promise.all(servers.map(({ name }) => this.toolsOf(name, tenant, limited)));
    signal.throwIfAborted();
    return found.flat();
  }

  private async toolsOf(server: string, tenant: string, signal: AbortSignal): Promise<string[]> {
    try {
      const tools = await this.mcp.findMcpTools([`${server}/*`], { tenant, signal });
      return tools.map(({ name }) => name);
    } catch (error) {
      if (error instanceof McpServerError || signal.aborted) return [`${server}/*`];
      throw error;
    }
  }
}

/** Sentence about each built-in node type, for the prompt. */
export const NODE_SENTENCES: Readonly<Record<string, string>> = {
  input: 'Takes what a run is started with; its id is the name of the input.',
  agent: 'Lets a language model answer its prompt, with tools if it names some.',
  tool: 'Calls one tool with fixed arguments, without a model.',
  output: 'Is a result of the run: what its prompt says, or what the nodes before it answered.',
  external: 'Calls an A2A agent elsewhere, by its URL or by the name under which it is registered here.',
  script: 'Answers by fixed rules; it is for tests and trials.',
  set: 'Computes values with expressions, without a model.',
  wait: 'Pauses the run for a duration or until a time.',
  human: 'Asks a person and waits for the answer, which a form may shape.',
  conversation: 'Lets two agents talk with each other, turn by turn.',
  brainstorm: 'Lets several agents develop one plan in passes.',
  workflow: 'Runs another workflow, which it names or contains.',
};

/**
 * Returns the line of the prompt that explains a node type. For the type of a plugin, the line refers to its schema.
 */
function nodeSentence(type: string): string {
  return `${type}: ${NODE_SENTENCES[type] ?? 'A type of this service; the schema describes its config.'}`;
}

/** Maximum number of problems in one prompt. */
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

/** Input of the first prompt. */
export interface PromptSubject {
  description: string;
  /** Definition to change, as the model may see it; `undefined` for a new workflow. */
  current: JsonObject | undefined;
  names: NameableThings;
}

/**
 * Builds the prompts for models that write workflows. The system message (task, node types, schema, examples) is built
 * once for the service.
 */
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

  /** Returns the messages of the first call of the model. Text of the caller is in the user message, as data. */
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

/** Returns the messages that ask the model to repair its answer, with at most 30 problems. */
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
