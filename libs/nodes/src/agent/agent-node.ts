import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType } from '#libs/agents';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { MCP_GLOB, MCP_SERVER_NAME } from '#libs/service';
import { configSchema, DATA, PROMPT } from '../node-config.js';
import { DEFAULT_HISTORY_TOKENS, DEFAULT_STEPS, HISTORIES, UNCERTAIN } from './agent-settings.js';
import { AGENT_GLOB, AGENT_TOOL_SCHEMAS, agentToolName, entryFaults, isAgentEntry } from './agent-tool-config.js';
import { type AgentNodeServices, ModelExecutor } from './model-executor.js';

/** Pattern of the name of an MCP tool, `server/tool`, or of several tools, `server/glob`. */
const SERVER_TOOL = new RegExp(`${MCP_SERVER_NAME.source.slice(0, -1)}/${MCP_GLOB.source.slice(1)}`);
const MOST_FALLBACKS = 10;
const MOST_TOOLS = 100;
/** Maximum number of texts in `stop`, and of characters in each. */
const MOST_STOPS = 4;
const LONGEST_STOP = 100;

/** Permitted ranges of the numbers in a config. */
const RANGES = {
  temperature: [0, 2],
  topP: [0, 1],
  maxTokens: [1, 1_000_000],
  maxSteps: [1, 100],
  historyTokens: [0, 1_000_000],
  tokens: [1, 1_000_000_000],
} as const;

/** Tools that a config may name. */
interface KnownTools {
  /** Names of the built-in tools. */
  builtIn: readonly string[];
  /** True if `tools` may name agents. */
  agents: boolean;
}

/** Returns the JSON Schema of the config of `agent`. */
function agentConfigSchema({ builtIn, agents }: KnownTools): ConfigSchema {
  const named: JsonObject[] = [{ enum: [...builtIn] }, { type: 'string', pattern: SERVER_TOOL.source }];
  const tool: JsonObject = { anyOf: [...named, ...(agents ? AGENT_TOOL_SCHEMAS : [])] };
  const approved: JsonObject = {
    anyOf: [...named, ...(agents ? [{ type: 'string', pattern: AGENT_GLOB.source }] : [])],
  };
  return configSchema({
    prompt: PROMPT,
    data: DATA,
    system_prompt: { type: 'string', description: 'System prompt of the model.' },
    model: {
      type: 'string',
      description:
        "Model: one of `/api/models`, or its name at the service's endpoint; default: the model of the service.",
    },
    fallbacks: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      maxItems: MOST_FALLBACKS,
      description: 'Models to try in this order if one is overloaded, fails or is unreachable.',
    },
    temperature: numberSchema('temperature', 'Sampling temperature of the model; default: the value of the model.'),
    topP: numberSchema(
      'topP',
      "Sample only from the most likely tokens with this total probability; default: the model's.",
    ),
    stop: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: LONGEST_STOP },
      maxItems: MOST_STOPS,
      description: 'Texts before which the answer ends.',
    },
    maxTokens: integerSchema(
      'maxTokens',
      "Maximum number of tokens of one answer; a truncated answer counts as none. Default: the model's own limit.",
    ),
    tools: {
      type: 'array',
      items: tool,
      maxItems: MOST_TOOLS,
      description: agents
        ? `Tools that the model may use: ${builtIn.join(', ')}, tools of MCP servers as "server/glob", or agents as ` +
          '"agent:reference", or as objects with their settings.'
        : `Tools that the model may use: ${builtIn.join(', ')}, or tools of MCP servers as "server/glob".`,
    },
    maxSteps: integerSchema('maxSteps', `Maximum number of model calls; default: ${DEFAULT_STEPS}.`),
    output: {
      type: 'object',
      description: 'JSON Schema (draft 7) of the answer, which becomes a data Part.',
    },
    history: {
      enum: [...HISTORIES],
      description:
        'context (default): the model sees earlier turns of the same context with this agent; none: it does not.',
    },
    historyTokens: integerSchema(
      'historyTokens',
      `Approximate maximum of tokens of earlier turns that the model sees; default: ${DEFAULT_HISTORY_TOKENS}.`,
    ),
    approve: {
      type: 'array',
      items: approved,
      maxItems: MOST_TOOLS,
      description: 'Tools, named as in tools, that need approval before each call.',
    },
    onUncertain: {
      enum: [...UNCERTAIN],
      description:
        'Reaction to a crash that may have interrupted a tool call that must not be repeated: ask a person ' +
        '(default), fail, or repeat the call.',
    },
    budget: {
      type: 'object',
      properties: {
        tokens: integerSchema('tokens', 'Number of tokens after which the node fails without another model call.'),
      },
      additionalProperties: false,
      description: 'Budget of one answer.',
    },
  });
}

/** Returns the problems of a config. A problem is one sentence, with the path of the member. */
function agentProblems(node: NodeSpec, { builtIn, agents }: KnownTools): NodeProblem[] {
  const problems = new Problems(node);
  const isTool = (it: string): boolean => builtIn.includes(it) || SERVER_TOOL.test(it);
  const rule = toolRule({ builtIn, agents });
  for (const key of ['prompt', 'system_prompt', 'model']) problems.checkMember(key, 'must be a string', isText);
  problems
    .checkTexts('fallbacks', MOST_FALLBACKS, 'must name a model', (it) => it !== '')
    .checkRange('temperature', node.config.temperature)
    .checkRange('topP', node.config.topP)
    .checkTexts('stop', MOST_STOPS, `must have 1 to ${LONGEST_STOP} characters`, isStop)
    .checkWholeRange('maxTokens', node.config.maxTokens)
    .checkTools(agents ? isAgentEntry : () => false, rule, isTool)
    .checkWholeRange('maxSteps', node.config.maxSteps)
    .checkMember('output', 'must be an object', isJsonObject)
    .checkMember('history', `must be ${HISTORIES.join(' or ')}`, (it) => HISTORIES.some((word) => word === it))
    .checkWholeRange('historyTokens', node.config.historyTokens)
    .checkTexts('approve', MOST_TOOLS, rule, (it) => isTool(it) || (agents && AGENT_GLOB.test(it)))
    .checkMember('onUncertain', `must be one of ${UNCERTAIN.join(', ')}`, (it) => UNCERTAIN.some((word) => word === it))
    .checkBudget();
  return problems.found;
}

function isStop(text: string): boolean {
  return text !== '' && text.length <= LONGEST_STOP;
}

function toolRule({ builtIn, agents }: KnownTools): string {
  const others = agents ? ', or an agent as "agent:reference"' : '';
  return `must be one of ${builtIn.join(', ')}, or name tools of an MCP server as "server/glob"${others}`;
}

const TAKEN = 'is the name of another tool: set another name';

class Problems {
  readonly found: NodeProblem[] = [];

  constructor(private readonly node: NodeSpec) {}

  checkMember(key: string, rule: string, holds: (value: JsonValue) => boolean, value = this.node.config[key]): this {
    if (value === undefined || holds(value)) return this;
    this.found.push({ path: `config.${key}`, detail: `agent node "${this.node.id}": ${key} ${rule}` });
    return this;
  }

  checkTexts(key: string, most: number, rule: string, holds: (entry: string) => boolean): this {
    const value = this.node.config[key];
    const isList = Array.isArray(value) && value.length <= most;
    this.checkMember(key, `must be a list of at most ${most} strings`, () => isList);
    if (!isList) return this;
    for (const [index, entry] of value.entries())
      this.checkMember(`${key}[${index}]`, rule, () => typeof entry === 'string' && holds(entry), entry);
    return this;
  }

  /**
   * Checks that each entry of `tools` is an agent or satisfies `holds`, and that the names of agents are unique.
   * @param rule text of the problem if an entry that is not an agent does not satisfy `holds`
   */
  checkTools(isAgent: (entry: JsonValue) => boolean, rule: string, holds: (entry: string) => boolean): this {
    const value = this.node.config.tools;
    if (!Array.isArray(value) || !value.some(isAgent)) return this.checkTexts('tools', MOST_TOOLS, rule, holds);
    this.checkMember('tools', `must be a list of at most ${MOST_TOOLS} tools`, () => value.length <= MOST_TOOLS);
    if (value.length > MOST_TOOLS) return this;
    const names = new Set<string>();
    for (const [index, entry] of value.entries()) {
      const place = `tools[${index}]`;
      if (isAgent(entry)) this.checkAgentTool(place, entry, names);
      else this.checkMember(place, rule, () => typeof entry === 'string' && holds(entry), entry);
    }
    return this;
  }

  /**
   * Checks an entry of `tools` that names an agent.
   * @param names names of the agents in earlier entries; the name of this agent is added
   */
  private checkAgentTool(place: string, entry: JsonValue, names: Set<string>): void {
    const faults = entryFaults(entry);
    for (const [member, rule] of faults)
      this.checkMember(member === undefined ? place : `${place}.${member}`, rule, () => false, entry);
    if (faults.length > 0) return;
    const name = agentToolName(entry);
    this.checkMember(isJsonObject(entry) ? `${place}.name` : place, TAKEN, () => !names.has(name), entry);
    names.add(name);
  }

  checkRange(key: keyof typeof RANGES, value: JsonValue | undefined, place: string = key): this {
    const [least, most] = RANGES[key];
    const holds = typeof value === 'number' && value >= least && value <= most;
    return this.checkMember(place, `must be a number from ${least} to ${most}`, () => holds, value);
  }

  checkWholeRange(key: keyof typeof RANGES, value: JsonValue | undefined, place: string = key): this {
    const [least, most] = RANGES[key];
    const holds = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    return this.checkMember(place, `must be a whole number from ${least} to ${most}`, () => holds, value);
  }

  checkBudget(): this {
    const { budget } = this.node.config;
    const isBudget = isJsonObject(budget) && Object.keys(budget).every((key) => key === 'tokens');
    this.checkMember('budget', 'must be an object with no member but tokens', () => isBudget);
    return isBudget ? this.checkWholeRange('tokens', budget.tokens, 'budget.tokens') : this;
  }
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string';
}

function numberSchema(key: keyof typeof RANGES, description: string): JsonObject {
  const [minimum, maximum] = RANGES[key];
  return { type: 'number', minimum, maximum, description };
}

function integerSchema(key: keyof typeof RANGES, description: string): JsonObject {
  return { ...numberSchema(key, description), type: 'integer' };
}

/** Node type `agent`: a model answers the Message, with tools and with memory of earlier turns. */
export class AgentNode implements NodeType {
  readonly name = 'agent';
  readonly configSchema: ConfigSchema;

  constructor(private readonly services: AgentNodeServices) {
    this.configSchema = agentConfigSchema(this.knownTools);
  }

  findProblems(node: NodeSpec): NodeProblem[] {
    return agentProblems(node, this.knownTools);
  }

  private get knownTools(): KnownTools {
    return { builtIn: this.services.tools.builtIn, agents: this.services.agents !== undefined };
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new ModelExecutor(node, this.services);
  }
}
