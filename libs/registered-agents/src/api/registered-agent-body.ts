import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches, MaxLength, ValidateBy, ValidateNested } from 'class-validator';
import { ApiClosed, IfGiven, QueryPageToken, QueryWholePageSize, withMembers } from '#libs/http-server';
import {
  hasUserinfo,
  isJsonObject,
  isPlainText,
  type JsonObject,
  type JsonValue,
  LONGEST_URL,
  TOO_LONG_URL,
} from '#libs/protocol';
import {
  AGENT_NAME,
  type RegistrationFields,
  MOST_REGISTERED_AGENTS,
  type RegisteredAgent,
} from '../agents/registered-agents.js';
import { AgentPolicyBody } from './agent-policy-body.js';

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';
const EXAMPLE_URL = 'https://agent.example.com/a2a';

/** Registered agent, as callers of the API send it. */
@ApiClosed()
export class RegisteredAgentBody {
  static readonly unknown = 'is not a field of a registered agent';

  @ApiProperty({ pattern: AGENT_NAME.source, example: 'translator' })
  @Matches(AGENT_NAME, { message: NAME_RULE })
  name!: string;

  @ApiProperty({
    format: 'uri',
    maxLength: LONGEST_URL,
    example: EXAMPLE_URL,
    description: 'Base URL of the agent, or the URL of its card.',
  })
  @MaxLength(LONGEST_URL, { message: TOO_LONG_URL })
  @ValidateBy(
    { name: 'agentUrl', validator: { validate: isAgentUrl } },
    { message: 'must be an http or https URL without credentials or fragment' },
  )
  url!: string;

  @ApiPropertyOptional({
    pattern: AGENT_NAME.source,
    description: 'Name of the credential for calls of the agent.',
    example: 'partner',
  })
  @IfGiven()
  @Matches(AGENT_NAME, { message: 'must be the name of a credential' })
  auth?: string;

  @ApiPropertyOptional({ type: AgentPolicyBody })
  @IfGiven()
  @ValidateNested({ message: 'must be an object' })
  policy?: AgentPolicyBody;

  static from(sent: object): RegisteredAgentBody {
    const { policy } = sent as { policy?: JsonValue };
    const read = isJsonObject(policy) ? withMembers(AgentPolicyBody, policy) : policy;
    return Object.assign(new this(), sent, read !== undefined && { policy: read });
  }

  get definition(): RegistrationFields {
    const { url, auth, policy = {} } = this;
    return { url, ...(auth !== undefined && { auth }), policy: { ...policy } };
  }
}

/** Body that replaces an agent. The name comes from the path; a name in the body is ignored. */
@ApiClosed()
export class RegisteredAgentReplacementBody extends RegisteredAgentBody {
  static override from(sent: object): RegisteredAgentBody {
    return super.from({ ...sent, name: 'named-by-its-path' });
  }
}

/** Query of one page of the list of registered agents. */
export class RegisteredAgentQuery {
  @QueryWholePageSize(MOST_REGISTERED_AGENTS)
  pageSize = MOST_REGISTERED_AGENTS;

  @QueryPageToken((token) => AGENT_NAME.test(token), 'translator')
  pageToken?: string;
}

export class RegisteredAgentView {
  @ApiProperty({ example: 'translator' })
  name!: string;

  @ApiProperty({ example: EXAMPLE_URL })
  url!: string;

  @ApiPropertyOptional({ example: 'partner' })
  auth?: string;

  @ApiProperty({ type: AgentPolicyBody })
  policy!: AgentPolicyBody;

  @ApiProperty({ description: 'Path of the agent on this service.', example: '/a2a/agents/translator' })
  path!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Card of the agent as it was when the agent was saved, in the form of A2A 1.0.',
    example: { name: 'Translator', description: 'Translates texts', version: '1.0.0', skills: [] },
  })
  card!: JsonObject;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

export class RegisteredAgentListView {
  @ApiProperty({ type: [RegisteredAgentView] })
  agents!: RegisteredAgentView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

export function registeredAgentView(agent: RegisteredAgent): RegisteredAgentView {
  const { name, url, auth, policy, card, createdAt, updatedAt } = agent;
  return {
    name,
    url,
    ...(auth !== undefined && { auth }),
    policy: { ...policy },
    path: `/a2a/agents/${name}`,
    card: card as unknown as JsonObject,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function isAgentUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !isPlainText(value) || !URL.canParse(value) || hasUserinfo(value)) return false;
  const { protocol, hash } = new URL(value);
  return /^https?:$/.test(protocol) && hash === '';
}
