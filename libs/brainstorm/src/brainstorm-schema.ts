import type { ConfigSchema } from '#libs/executor';
import { DEFAULT_ITERATIONS, MOST_ITERATIONS } from './brainstorm-spec.js';
import { LLM_RANGES } from './core/llm-config.js';
import { FEWEST_AGENTS, MOST_AGENTS, ROLES } from './core/role.js';
import { CREDENTIAL_NAME, LONGEST_NAME, LONGEST_PROMPT, MOST_SKILLS } from './requested-brainstorm.js';
import { SKILL_NAMES } from './core/skill-library.js';

const [LEAST_HEAT, MOST_HEAT] = LLM_RANGES.temperature;
const [FEWEST_TOKENS, MOST_TOKENS] = LLM_RANGES.max_tokens;

const MODEL = {
  provider: { type: 'string', description: 'The provider of the model.' },
  model: { type: 'string', description: 'The model.' },
  temperature: {
    type: 'number',
    minimum: LEAST_HEAT,
    maximum: MOST_HEAT,
    description: 'How freely the model chooses its words.',
  },
  max_tokens: {
    type: 'integer',
    minimum: FEWEST_TOKENS,
    maximum: MOST_TOKENS,
    description: 'How many tokens one answer may have.',
  },
};

export const MODEL_FIELDS = Object.keys(MODEL);

const AGENT = {
  type: 'object',
  properties: {
    agent: { type: 'string', minLength: 1, description: 'The name, the path or the URL of an agent.' },
    name: { type: 'string', maxLength: LONGEST_NAME, description: 'What it is called in the passes.' },
    role: { enum: [...ROLES], description: 'What it does; absent: by its place.' },
    provider: { type: 'string', description: 'The provider of its model.' },
    model: { type: 'string', description: 'Its model.' },
    auth: {
      type: 'string',
      pattern: CREDENTIAL_NAME.source,
      description: 'The name of a stored credential, for an agent that is named by its URL.',
    },
    credential_ref: {
      type: 'string',
      pattern: CREDENTIAL_NAME.source,
      description:
        'The name of a stored credential with hosts, for the models of an agent of this service, or in place of auth.',
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

/** JSON Schema of a brainstorm's config. The node refuses what the schema refuses. */
export const BRAINSTORM_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    idea: {
      type: 'string',
      description: 'What it is about; absent: what the nodes before it answered. May have {{references}}.',
    },
    agents: {
      type: 'array',
      minItems: FEWEST_AGENTS,
      maxItems: MOST_AGENTS,
      items: AGENT,
      description: 'Who takes part, in this order.',
    },
    maxIterations: {
      type: 'integer',
      minimum: 1,
      maximum: MOST_ITERATIONS,
      default: DEFAULT_ITERATIONS,
      description: 'How many passes there are at most.',
    },
    systemPrompt: {
      type: 'string',
      maxLength: LONGEST_PROMPT,
      description: 'What every agent is told before its role.',
    },
    llmConfig: {
      type: 'object',
      properties: MODEL,
      additionalProperties: false,
      description: 'The model of all agents; it goes before what an agent has of its own.',
    },
  },
  required: ['agents'],
};
