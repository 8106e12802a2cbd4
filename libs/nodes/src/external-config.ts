import { type ConfigSchema, type NodeProblem, type NodeSpec, registeredAgentPath } from '#libs/agents';
import type { CallIdentity } from '#libs/durable';
import { hasUserinfo, type JsonObject, type JsonValue, LONGEST_URL, NO_USERINFO, TOO_LONG_URL } from '#libs/protocol';
import { ConfigProblems, configSchema, DATA, PROMPT } from './node-config.js';

const DEFAULT_TIMEOUT_SECONDS = 30;
/** Maximum of `timeout` in seconds, which is the maximum delay of a timer of Node.js. */
export const LONGEST_TIMEOUT_SECONDS = Math.floor((2 ** 31 - 1) / 1_000);

/**
 * Pattern of the name of a credential or of a registered agent. A workflow may be saved before the credential or the
 * agent exists: only a run checks that it exists.
 */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const LONGEST_SKILL = 256;

/** JSON Schema of the config of an `external` node: its agent is at `endpoint_url`, or registered. */
export const EXTERNAL_CONFIG: ConfigSchema = {
  ...configSchema({
    endpoint_url: {
      type: 'string',
      maxLength: LONGEST_URL,
      pattern: '^[hH][tT][tT][pP][sS]?:',
      description: 'Base URL of the agent, or the URL of its card.',
    },
    agent: {
      type: 'string',
      pattern: NAME.source,
      description: 'Alternative to endpoint_url: name of a registered agent, whose credential and policy apply.',
    },
    skill: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_SKILL,
      description: 'Id of the skill of a registered agent that each Message names.',
    },
    timeout: {
      type: 'number',
      minimum: 1,
      maximum: LONGEST_TIMEOUT_SECONDS,
      description: `Time limit of the call, in seconds; default: ${DEFAULT_TIMEOUT_SECONDS}, and none for a registered agent.`,
    },
    auth: { type: 'string', pattern: NAME.source, description: 'Name of a stored credential, for an endpoint_url.' },
    protocol: {
      enum: ['founding'],
      description: 'Protocol older than A2A 1.0 that the agent speaks; default: taken from its card, or detected.',
    },
    history: {
      enum: ['context', 'none'],
      description:
        'context (default): later turns of the same context reuse the context of the agent; none: they do not.',
    },
    prompt: PROMPT,
    data: DATA,
  }),
  oneOf: [requireMember('endpoint_url'), requireMember('agent')],
  dependentSchemas: {
    agent: { properties: { auth: false, protocol: false } },
    endpoint_url: { properties: { skill: false } },
  },
};

function requireMember(member: string): JsonObject {
  return { properties: { [member]: true }, required: [member] };
}

/** Returns the problems of the config of an `external` node. */
export function findExternalProblems(node: NodeSpec): NodeProblem[] {
  const { endpoint_url: endpoint, agent } = node.config;
  const isAbsent = endpoint === undefined || endpoint === null || endpoint === '';
  if (isAbsent && agent === undefined) return [{ path: 'config.endpoint_url', detail: missingEndpoint(node) }];
  const problems = new ConfigProblems(node);
  if (agent === undefined) addEndpointProblems(problems, endpoint);
  problems
    .addUnless(endpoint === undefined || agent === undefined, 'must have exactly one of endpoint_url and agent')
    .checkMember('agent', 'must be the name of a registered agent', isName)
    .checkMember('timeout', `must be a number of seconds, from 1 to ${LONGEST_TIMEOUT_SECONDS}`, isTimeout)
    .checkMember('protocol', 'must be "founding", or absent', (it) => it === 'founding')
    .checkMember('history', 'must be context or none', (it) => it === 'context' || it === 'none')
    .checkMember('auth', 'must be the name of a credential', isName)
    .checkMember('skill', `must be the id of a skill, of at most ${LONGEST_SKILL} characters`, isSkill)
    .checkStrings('prompt');
  for (const member of agent === undefined ? ['skill'] : ['auth', 'protocol']) {
    const rule = `is for ${agent === undefined ? 'a registered agent' : 'an agent that is named by its endpoint_url'}`;
    problems.checkMember(member, rule, () => false);
  }
  return problems.found;
}

function addEndpointProblems(problems: ConfigProblems, endpoint: JsonValue | undefined): void {
  const isShort = typeof endpoint !== 'string' || endpoint.length <= LONGEST_URL;
  const isUrl = typeof endpoint === 'string' && /^https?:/i.test(endpoint) && URL.canParse(endpoint);
  problems
    .addUnless(isUrl, 'endpoint_url must be an http or https URL', 'endpoint_url')
    .addUnless(isShort, `endpoint_url ${TOO_LONG_URL}`, 'endpoint_url')
    .addUnless(
      !isUrl || !isShort || !hasUserinfo(endpoint),
      `endpoint_url ${NO_USERINFO}; name a credential in auth`,
      'endpoint_url',
    );
}

/** Returns the problem of a node that names no agent. */
export function missingEndpoint(node: NodeSpec): string {
  return `external node "${node.id}": missing endpoint_url config`;
}

/**
 * Returns the credential and the protocol for calls to an agent at an `endpoint_url`, each only if the config sets it.
 */
export function reachSettings({ auth, protocol }: JsonObject): Pick<CallIdentity, 'credential' | 'protocol'> {
  return {
    ...(typeof auth === 'string' && auth !== '' && { credential: auth }),
    ...(protocol === 'founding' && { protocol }),
  };
}

/**
 * Returns the time limit of a call in milliseconds. Returns `undefined` for a registered agent if the config sets no
 * limit; the policy of that agent may then set one.
 */
export function timeLimit(config: JsonObject): number | undefined {
  const { timeout } = config;
  const isSet = typeof timeout === 'number' && timeout > 0;
  if (!isSet && registeredAgentPath(config) !== undefined) return undefined;
  return Math.min(isSet ? timeout : DEFAULT_TIMEOUT_SECONDS, LONGEST_TIMEOUT_SECONDS) * 1_000;
}

function isName(value: JsonValue): boolean {
  return typeof value === 'string' && NAME.test(value);
}

function isSkill(value: JsonValue): boolean {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_SKILL;
}

function isTimeout(value: JsonValue): boolean {
  return typeof value === 'number' && value >= 1 && value <= LONGEST_TIMEOUT_SECONDS;
}
