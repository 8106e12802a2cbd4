import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray, IsInt, IsNumber, IsOptional, IsString, Max, Min, ValidateNested } from 'class-validator';
import { ApiClosed, EachEntry, withMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { DEFAULT_ITERATIONS, MOST_ITERATIONS } from '../brainstorm-spec.js';
import { LLM_RANGES, LLM_RULES } from '../core/llm-config.js';
import { FEWEST_AGENTS, MOST_AGENTS, ROLES } from '../core/role.js';
import { SKILL_NAMES } from '../core/skill-library.js';
import {
  LONGEST_IDEA,
  LONGEST_NAME,
  LONGEST_PROMPT,
  LONGEST_TIMEOUT,
  MOST_SKILLS,
  type RequestedAgent,
  type RequestedBrainstorm,
} from '../requested-brainstorm.js';

/** Maximum entries of `agents` that are read. A longer list is refused in any case, for its length. */
const MOST_AGENTS_READ = 100;

const [LEAST_HEAT, MOST_HEAT] = LLM_RANGES.temperature;
const [FEWEST_TOKENS, MOST_TOKENS] = LLM_RANGES.max_tokens;

const TEXT = { message: 'must be a string' };

@ApiClosed()
export class LlmConfigBody {
  static readonly unknown = 'is not known here; a secret is named by credential_ref';

  @ApiPropertyOptional({ example: 'openai-compatible' })
  @IsOptional()
  @IsString(TEXT)
  provider?: string;

  @ApiPropertyOptional({ example: 'llama-4' })
  @IsOptional()
  @IsString(TEXT)
  model?: string;

  @ApiPropertyOptional({
    description:
      'Name of a stored credential with hosts, for every agent that can use it: it replaces the key of its models, or ' +
      'of its auth. Never a secret itself.',
    example: 'team-key',
  })
  @IsOptional()
  @IsString(TEXT)
  credential_ref?: string;

  @ApiPropertyOptional({ minimum: LEAST_HEAT, maximum: MOST_HEAT, example: 0.7 })
  @IsOptional()
  @IsNumber({}, { message: LLM_RULES.temperature })
  @Min(LEAST_HEAT, { message: LLM_RULES.temperature })
  @Max(MOST_HEAT, { message: LLM_RULES.temperature })
  temperature?: number;

  @ApiPropertyOptional({ type: 'integer', minimum: FEWEST_TOKENS, maximum: MOST_TOKENS, example: 2000 })
  @IsOptional()
  @IsInt({ message: LLM_RULES.max_tokens })
  @Min(FEWEST_TOKENS, { message: LLM_RULES.max_tokens })
  @Max(MOST_TOKENS, { message: LLM_RULES.max_tokens })
  max_tokens?: number;
}

@ApiClosed()
export class BrainstormAgentBody {
  static readonly unknown = "is not a field of a brainstorm's agent";

  @ApiProperty({
    description: "An agent's URL, a path of the directory, or the name of a workflow.",
    example: 'workflows/architect',
  })
  @IsString(TEXT)
  agent!: string;

  @ApiPropertyOptional({ maxLength: LONGEST_NAME, example: 'ann' })
  @IsOptional()
  @IsString(TEXT)
  name?: string;

  @ApiPropertyOptional({ enum: ROLES, description: 'Role of the agent; default: by position.' })
  @IsOptional()
  @IsString(TEXT)
  role?: string;

  @ApiPropertyOptional({ example: 'openai-compatible' })
  @IsOptional()
  @IsString(TEXT)
  provider?: string;

  @ApiPropertyOptional({ example: 'llama-4' })
  @IsOptional()
  @IsString(TEXT)
  model?: string;

  @ApiPropertyOptional({
    description:
      'Name of a stored credential with hosts. For an agent of this service it replaces the key of the models, for a ' +
      'remote agent it has the effect of `auth`.',
    example: 'team-key',
  })
  @IsOptional()
  @IsString(TEXT)
  credential_ref?: string;

  @ApiPropertyOptional({
    description: 'Name of a stored credential, for an agent named by its URL.',
    example: 'architect-key',
  })
  @IsOptional()
  @IsString(TEXT)
  auth?: string;

  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_SKILLS,
    description: `Names of Parley's skills (${SKILL_NAMES}) or of skills of the agent's card, or instructions in words.`,
    example: ['security'],
  })
  @IsOptional()
  @IsArray({ message: 'must be an array' })
  @IsString({ each: true, message: 'must be strings' })
  skills?: string[];
}

/** Example bodies for OpenAPI. The workflows in them exist once the examples of `/api/apply` are saved. */
export const BRAINSTORM_EXAMPLES = {
  'two agents': {
    value: {
      idea: 'A library that lends tools',
      agents: [{ agent: 'workflows/poet' }, { agent: 'workflows/critic', role: 'review' }],
      maxIterations: 3,
    },
  },
};

/** Body of a request to start a brainstorm. */
@ApiClosed()
export class BrainstormBody {
  static readonly unknown = 'is not a field of a brainstorm';

  @ApiProperty({ minLength: 1, maxLength: LONGEST_IDEA, example: 'A library that lends tools' })
  @IsString(TEXT)
  idea!: string;

  @ApiProperty({ type: [BrainstormAgentBody], minItems: FEWEST_AGENTS, maxItems: MOST_AGENTS })
  @IsArray({ message: 'must be an array' })
  @EachEntry((entry) => entry !== null, 'must be an object')
  @ValidateNested({ each: true })
  agents!: BrainstormAgentBody[];

  @ApiPropertyOptional({ type: 'integer', default: DEFAULT_ITERATIONS, minimum: 1, maximum: MOST_ITERATIONS })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  maxIterations?: number;

  @ApiPropertyOptional({
    maxLength: LONGEST_PROMPT,
    description: 'System prompt of every agent; replaces the built-in one.',
    example: 'You develop an idea together with others.',
  })
  @IsOptional()
  @IsString(TEXT)
  systemPrompt?: string;

  @ApiPropertyOptional({
    type: LlmConfigBody,
    description: 'Model settings of all agents; they take precedence over the entries in `agents`.',
  })
  @IsOptional()
  @ValidateNested({ message: 'must be an object' })
  llmConfig?: LlmConfigBody;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: LONGEST_TIMEOUT,
    description: 'Milliseconds without an event after which an agent times out; default 120,000.',
    example: 120_000,
  })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  timeoutMs?: number;

  static from({ idea, agents, maxIterations, systemPrompt, llmConfig, timeoutMs }: JsonObject): BrainstormBody {
    const members = {
      idea,
      agents: Array.isArray(agents) ? agents.slice(0, MOST_AGENTS_READ).map(agentFrom) : agents,
      maxIterations,
      systemPrompt,
      llmConfig: isJsonObject(llmConfig) ? withMembers(LlmConfigBody, llmConfig) : llmConfig,
      timeoutMs,
    };
    return Object.assign(new BrainstormBody(), members);
  }
}

/** Converts a valid body to the brainstorm that the caller requests. */
export function wantedOf({ agents, llmConfig, ...body }: BrainstormBody): RequestedBrainstorm {
  return withoutGaps({
    ...body,
    agents: agents.map((agent) => withoutGaps<RequestedAgent>({ ...agent })),
    llmConfig: withoutGaps({ ...llmConfig }),
  });
}

/** Reads an entry of `agents`. An entry that is not an object becomes `null`, which a rule refuses. */
function agentFrom(agent: JsonValue): BrainstormAgentBody | null {
  return isJsonObject(agent) ? withMembers(BrainstormAgentBody, agent) : null;
}

/** Returns an object without members that are `null` or `undefined`. */
function withoutGaps<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined && it !== null)) as T;
}
