import { Injectable } from '@nestjs/common';
import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType } from '#libs/agents';
import { firstText, invalidParams, isJsonObject, type JsonObject, type SendMessageRequest } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import { BrainstormExecutor } from './brainstorm-executor.js';
import { BrainstormServices } from './brainstorm-run.js';
import { type BrainstormSpec, DEFAULT_ITERATIONS, MOST_ITERATIONS } from './brainstorm-spec.js';
import { LLM_RANGES, llmFaults } from './core/llm-config.js';
import { FEWEST_AGENTS, MOST_AGENTS, ROLES } from './core/role.js';
import { SKILL_NAMES, skillWords } from './core/skill-library.js';
import {
  brainstormProblems,
  brainstormSpec,
  CREDENTIAL_NAME,
  isSkillText,
  LONGEST_NAME,
  LONGEST_PROMPT,
  MOST_SKILLS,
  type RequestedAgent,
  type RequestedBrainstorm,
} from './requested-brainstorm.js';

const [LEAST_HEAT, MOST_HEAT] = LLM_RANGES.temperature;
const [FEWEST_TOKENS, MOST_TOKENS] = LLM_RANGES.max_tokens;

const MODEL = {
  provider: { type: 'string', description: 'Provider of the model.' },
  model: { type: 'string', description: 'Name of the model.' },
  temperature: {
    type: 'number',
    minimum: LEAST_HEAT,
    maximum: MOST_HEAT,
    description: 'Sampling temperature of the model.',
  },
  max_tokens: {
    type: 'integer',
    minimum: FEWEST_TOKENS,
    maximum: MOST_TOKENS,
    description: 'Maximum number of tokens of one answer.',
  },
};

const MODEL_FIELDS = Object.keys(MODEL);

const AGENT = {
  type: 'object',
  properties: {
    agent: { type: 'string', minLength: 1, description: 'Name, path or URL of an agent.' },
    name: { type: 'string', maxLength: LONGEST_NAME, description: 'Name of the agent in the passes.' },
    role: { enum: [...ROLES], description: 'Role of the agent; default: by position.' },
    provider: { type: 'string', description: 'Provider of the model of the agent.' },
    model: { type: 'string', description: 'Model of the agent.' },
    auth: {
      type: 'string',
      pattern: CREDENTIAL_NAME.source,
      description: 'Name of a stored credential, for an agent named by its URL.',
    },
    credential_ref: {
      type: 'string',
      pattern: CREDENTIAL_NAME.source,
      description:
        'Name of a stored credential with hosts, for the models of an agent of this service, or instead of auth.',
    },
    skills: {
      type: 'array',
      maxItems: MOST_SKILLS,
      items: { type: 'string' },
      description: `Skills by name (${SKILL_NAMES}), or in words.`,
    },
  },
  required: ['agent'],
  dependentSchemas: { auth: { properties: { agent: { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?:' } } } },
  additionalProperties: false,
};

/** JSON Schema of the config of a `brainstorm` node. `findProblems` refuses what the schema refuses. */
const BRAINSTORM_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    idea: {
      type: 'string',
      description: 'Idea to develop; default: the answers of the nodes before it. May contain {{references}}.',
    },
    agents: {
      type: 'array',
      minItems: FEWEST_AGENTS,
      maxItems: MOST_AGENTS,
      items: AGENT,
      description: 'Agents that take part, in this order.',
    },
    maxIterations: {
      type: 'integer',
      minimum: 1,
      maximum: MOST_ITERATIONS,
      default: DEFAULT_ITERATIONS,
      description: 'Maximum number of passes.',
    },
    systemPrompt: {
      type: 'string',
      maxLength: LONGEST_PROMPT,
      description: 'System prompt of every agent, before its role.',
    },
    llmConfig: {
      type: 'object',
      properties: MODEL,
      additionalProperties: false,
      description: 'Model of all agents; takes precedence over the model of an agent.',
    },
  },
  required: ['agents'],
};

/**
 * Node type `brainstorm`: a whole brainstorm as one node of a workflow. The text of the Message to the node is the
 * idea. The output is the state as data, and a sentence about the convergence.
 */
@Injectable()
export class BrainstormNode implements NodeType {
  readonly name = 'brainstorm';
  readonly configSchema = BRAINSTORM_SCHEMA;

  constructor(
    private readonly services: BrainstormServices,
    private readonly config: AppConfig,
  ) {}

  /** Returns the problems of a node's config. */
  findProblems({ id, config }: NodeSpec): NodeProblem[] {
    const wrong = typeProblems(config);
    const found = wrong.length > 0 ? wrong : valueProblems(config);
    return found.map(({ path, detail }) => ({
      path: `config.${path}`,
      detail: `brainstorm node "${id}": ${path} ${detail}`,
    }));
  }

  createExecutor({ id, config }: NodeSpec): AgentExecutor {
    const ending = { artifactId: id, converged: 'TASK_STATE_COMPLETED', failed: 'TASK_STATE_FAILED' } as const;
    return new BrainstormExecutor(this.services, ending, (request) => this.specOf(config, request));
  }

  /**
   * Builds the specification from the config and the idea in the Message.
   * @throws A2AError INVALID_PARAMS, also for model settings that were saved before their range was checked
   */
  private specOf(config: JsonObject, { message }: SendMessageRequest): BrainstormSpec {
    const idea = firstText(message.parts)?.trim() ?? '';
    if (idea === '') throw invalidParams({ field: 'message.parts', description: 'must have a text with the idea' });
    const wanted = wantedIn(config, idea);
    const [fault] = llmFaults({ ...wanted.llmConfig });
    if (fault) throw invalidParams({ field: `config.llmConfig.${fault.member}`, description: fault.rule });
    const { baseUrl, model } = this.config.llm;
    return brainstormSpec(wanted, {
      llm: { model, ...(baseUrl !== undefined && { provider: 'openai-compatible' }) },
    });
  }
}

/** Fault in a member of a node's config, with the name of the member. */
interface ConfigFault {
  path: string;
  detail: string;
}

function typeProblems({ agents, idea, maxIterations, systemPrompt, llmConfig }: JsonObject): ConfigFault[] {
  const fits = Array.isArray(agents) && agents.every((it) => isJsonObject(it) && areAgentMembers(it));
  const checks: [boolean, string, string][] = [
    [
      fits,
      'agents',
      'must be an array of objects with an agent, and name, role, provider, model, auth, credential_ref and skills as texts',
    ],
    [idea === undefined || typeof idea === 'string', 'idea', 'must be a string'],
    [maxIterations === undefined || typeof maxIterations === 'number', 'maxIterations', 'must be a number'],
    [systemPrompt === undefined || typeof systemPrompt === 'string', 'systemPrompt', 'must be a string'],
    [
      llmConfig === undefined ||
        (isJsonObject(llmConfig) && Object.keys(llmConfig).every((it) => MODEL_FIELDS.includes(it))),
      'llmConfig',
      `must be an object with only the members ${MODEL_FIELDS.join(', ')}`,
    ],
  ];
  const wrong = checks.filter(([holds]) => !holds).map(([, path, detail]) => ({ path, detail }));
  return [...wrong, ...(isJsonObject(llmConfig) ? modelProblems(llmConfig) : [])];
}

function modelProblems(llmConfig: JsonObject): ConfigFault[] {
  const texts = ['provider', 'model'].filter((member) => !['undefined', 'string'].includes(typeof llmConfig[member]));
  return [
    ...texts.map((member) => ({ path: `llmConfig.${member}`, detail: 'must be a string' })),
    ...llmFaults(llmConfig).map(({ member, rule }) => ({ path: `llmConfig.${member}`, detail: rule })),
  ];
}

function areAgentMembers({ agent, skills, ...others }: JsonObject): boolean {
  const texts = [
    others['name'],
    others['role'],
    others['provider'],
    others['model'],
    others['auth'],
    others['credential_ref'],
  ];
  const areTexts = texts.every((it) => it === undefined || typeof it === 'string');
  const areSkills = skills === undefined || (Array.isArray(skills) && skills.every((it) => typeof it === 'string'));
  return typeof agent === 'string' && areTexts && areSkills;
}

/**
 * Returns the problems of the config's values. The idea, which comes only with the Message, is replaced by a
 * placeholder for this check.
 */
function valueProblems(config: JsonObject): ConfigFault[] {
  const wanted = wantedIn(config, 'an idea');
  const unknown = wanted.agents.flatMap(({ skills = [] }, index) =>
    skills.flatMap((skill, at) =>
      isSkillText(skill) || skillWords(skill) !== undefined
        ? []
        : [{ path: `agents[${index}].skills[${at}]`, detail: `is not a known skill (known: ${SKILL_NAMES})` }],
    ),
  );
  return [...brainstormProblems(wanted), ...strangeMembers(config), ...unknown];
}

const AGENT_FIELDS = ['agent', 'name', 'role', 'provider', 'model', 'auth', 'credential_ref', 'skills'];

function strangeMembers({ agents }: JsonObject): ConfigFault[] {
  return (agents as JsonObject[]).flatMap((agent, index) =>
    Object.keys(agent)
      .filter((name) => !AGENT_FIELDS.includes(name))
      .map((name) => ({ path: `agents[${index}].${name}`, detail: "is not a field of a brainstorm's agent" })),
  );
}

function wantedIn({ agents, maxIterations, systemPrompt, llmConfig }: JsonObject, idea: string): RequestedBrainstorm {
  return {
    idea,
    agents: agents as unknown as RequestedAgent[],
    ...(typeof maxIterations === 'number' && { maxIterations }),
    ...(typeof systemPrompt === 'string' && { systemPrompt }),
    ...(isJsonObject(llmConfig) && { llmConfig: modelOf(llmConfig) }),
  };
}

/**
 * Reads the model settings of a config. A definition may have been saved before their rules existed, so unknown
 * members are dropped.
 */
function modelOf({ provider, model, temperature, max_tokens }: JsonObject): RequestedBrainstorm['llmConfig'] {
  return {
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { model }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof max_tokens === 'number' && { max_tokens }),
  };
}
