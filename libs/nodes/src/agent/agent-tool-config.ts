import { AGENT_TOOL, calledAgentOf } from '#libs/agents';
import {
  hasUserinfo,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LONGEST_URL,
  NO_USERINFO,
  redactedUrl,
  textStart,
} from '#libs/protocol';
import { LONGEST_TIMEOUT_SECONDS } from '../external-config.js';

const MOST_TURNS = 20;
const DEFAULT_TURNS = 5;

/** Maximum time of one turn in seconds, as in every conversation. */
const LONGEST_TURN_SECONDS = 3_600;

/** Settings (`talk`) of an agent tool whose calls are conversations between the calling and the called agent. */
export interface TalkConfig {
  /** Maximum number of turns after the first answer of the called agent. */
  maxTurns: number;
  /** Reference of the agent that receives the last text of the conversation; absent: no agent does. */
  announce?: string;
  /** True if the call ends with the conversation; false if it ends with the first answer of the called agent. */
  wait: boolean;
}

/** Returns the JSON Schema of `talk`. @param reference pattern of a reference to an agent */
function talkSchema(reference: string): JsonObject {
  return {
    type: 'object',
    properties: {
      maxTurns: {
        type: 'integer',
        minimum: 0,
        maximum: MOST_TURNS,
        default: DEFAULT_TURNS,
        description: 'Maximum number of turns after the first answer.',
      },
      announce: {
        type: 'string',
        pattern: reference,
        maxLength: LONGEST_URL,
        description: 'Agent that receives the last text: its name, path or URL.',
      },
      wait: {
        type: 'boolean',
        default: true,
        description: 'True: the call ends with the conversation. False: it ends with the first answer.',
      },
    },
    additionalProperties: false,
    description: 'Turns each call into a conversation: this agent is the requester, the called agent is the target.',
  };
}

/** Fault of a `talk` setting: the member, and the rule that it violates. */
type TalkFault = readonly [member: string, rule: string];

/**
 * Returns the faults of `talk`.
 * @param announceFault returns the fault of a reference to an agent, if any
 */
function talkFaults(talk: JsonValue, announceFault: (announce: JsonValue) => string | undefined): TalkFault[] {
  if (!isJsonObject(talk)) return [['talk', 'must be an object']];
  const { maxTurns, announce, wait, ...others } = talk;
  const isCount = Number.isInteger(maxTurns) && (maxTurns as number) >= 0 && (maxTurns as number) <= MOST_TURNS;
  const wrong = announce === undefined ? undefined : announceFault(announce);
  return [
    ...Object.keys(others).map((member): TalkFault => [`talk.${member}`, 'is not a field of talk']),
    ...talkFaultIf(maxTurns !== undefined && !isCount, 'maxTurns', `must be a whole number from 0 to ${MOST_TURNS}`),
    ...talkFaultIf(wrong !== undefined, 'announce', wrong),
    ...talkFaultIf(wait !== undefined && typeof wait !== 'boolean', 'wait', 'must be true or false'),
  ];
}

/** Reads the settings of a valid `talk`. */
function talkConfig({ maxTurns, announce, wait }: JsonObject): TalkConfig {
  return {
    maxTurns: typeof maxTurns === 'number' ? maxTurns : DEFAULT_TURNS,
    ...(typeof announce === 'string' && { announce }),
    wait: wait !== false,
  };
}

function talkFaultIf(isWrong: boolean, member: string, rule = ''): TalkFault[] {
  return isWrong ? [[`talk.${member}`, rule]] : [];
}

/**
 * Values of `onQuestion`: the model or the caller (`ask`) answers a question of the called agent. A question that a
 * person must answer always goes to the caller.
 */
const ON_QUESTION = ['model', 'ask'] as const;

const DEFAULT_SECONDS = 60;
const DEFAULT_CALLS = 10;
const MOST_CALLS = 1_000;
const LONGEST_DESCRIPTION = 4_000;
/** Maximum number of characters of a tool name that is derived from a URL. */
const LONGEST_NAME = 200;

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const REFERENCE = '(?:[hH][tT][tT][pP][sS]?://[^ ]+|/?[A-Za-z0-9_][A-Za-z0-9_./-]*)';
const NAMED = new RegExp(`^${AGENT_TOOL}${REFERENCE}$`);
const ALONE = new RegExp(`^${REFERENCE}$`);

/** Pattern of an agent tool in `approve`. */
export const AGENT_GLOB = /^agent:[A-Za-z0-9_.:*?/-]{1,256}$/;

/** Settings of an agent that a model may call as a tool. They are read from an entry of `tools`. */
export interface AgentToolConfig {
  /** `agent:<name>`: the name of the tool in events and in the log. */
  tool: string;
  /** Name of the agent, its path below `/a2a`, or its URL. */
  reference: string;
  description?: string;
  /** Name of a stored credential; only for a URL. */
  credential?: string;
  /** Protocol older than A2A 1.0 that the agent speaks; only for a URL. */
  protocol?: 'founding';
  /** Time limit of one call, or of one turn with `talk`, in milliseconds. */
  limit: number;
  /** Maximum number of calls of the agent in one Task. */
  maxCalls: number;
  onQuestion: (typeof ON_QUESTION)[number];
  /** Settings of a conversation. If present, each call of the tool is a conversation with the agent. */
  talk?: TalkConfig;
}

const NAMED_BY_URL: JsonObject = { properties: { agent: { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?:' } } };

/** JSON Schemas of an entry of `tools` that is an agent. */
export const AGENT_TOOL_SCHEMAS: readonly JsonObject[] = [
  { type: 'string', pattern: NAMED.source, maxLength: LONGEST_URL + AGENT_TOOL.length },
  {
    type: 'object',
    properties: {
      agent: {
        type: 'string',
        pattern: ALONE.source,
        maxLength: LONGEST_URL,
        description: 'Name of a workflow or a node, path of an agent below `/a2a`, or URL of an agent.',
      },
      name: {
        type: 'string',
        pattern: NAME.source,
        description: 'Name of the tool; default: derived from agent.',
      },
      description: {
        type: 'string',
        maxLength: LONGEST_DESCRIPTION,
        description: 'Description of the agent for the model; default: the description of its card.',
      },
      auth: { type: 'string', pattern: NAME.source, description: 'Name of a stored credential, for a URL.' },
      protocol: {
        enum: ['founding'],
        description:
          'Protocol older than A2A 1.0 that the agent at a URL speaks; default: taken from its card, or ' + 'detected.',
      },
      timeout: {
        type: 'number',
        minimum: 1,
        maximum: LONGEST_TIMEOUT_SECONDS,
        default: DEFAULT_SECONDS,
        description: 'Time limit of one call in seconds; with talk, of one turn.',
      },
      maxCalls: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_CALLS,
        default: DEFAULT_CALLS,
        description: 'Maximum number of calls of the agent in one Task.',
      },
      onQuestion: {
        enum: [...ON_QUESTION],
        description:
          'Source of answers to questions of the agent: model (default), or ask, which asks the caller. Questions that a ' +
          'person has to answer always go to the caller.',
      },
      talk: talkSchema(ALONE.source),
    },
    required: ['agent'],
    dependentSchemas: {
      auth: NAMED_BY_URL,
      protocol: NAMED_BY_URL,
      talk: {
        properties: {
          timeout: { type: 'number', maximum: LONGEST_TURN_SECONDS },
          protocol: false,
          onQuestion: false,
        },
      },
    },
    additionalProperties: false,
  },
];

/** True if an entry of `tools` names an agent, even an invalid one. */
export function isAgentEntry(entry: JsonValue): boolean {
  return isJsonObject(entry) || (typeof entry === 'string' && entry.startsWith(AGENT_TOOL));
}

const FOR_URL = 'is for an agent that is named by its URL';

/** Fault of an entry of `tools`: the member (absent for the whole entry), and the rule that is violated. */
export type EntryFault = readonly [member: string | undefined, rule: string];

/** Returns the faults of an entry of `tools` that names an agent. */
export function entryFaults(entry: JsonValue): EntryFault[] {
  if (!isJsonObject(entry)) return referenceFault(entry, stringMember(entry).slice(AGENT_TOOL.length), undefined);
  const { agent, auth, protocol, talk, ...members } = entry;
  const faults = Object.entries(members).flatMap(([member, value]): EntryFault[] => {
    const rule = Object.hasOwn(RULES, member) ? RULES[member] : undefined;
    if (!rule) return [[member, 'is not a field of an agent tool']];
    return rule.holds(value) ? [] : [[member, rule.must]];
  });
  const isCredential = typeof auth === 'string' && NAME.test(auth);
  if (auth !== undefined && !isCredential) faults.push(['auth', 'must be the name of a credential']);
  else if (auth !== undefined && !isUrl(agent)) faults.push(['auth', FOR_URL]);
  if (protocol !== undefined && protocol !== 'founding') faults.push(['protocol', 'must be "founding", or absent']);
  else if (protocol !== undefined && !isUrl(agent)) faults.push(['protocol', FOR_URL]);
  if (talk !== undefined) faults.push(...talkFaults(talk, announceFault), ...faultsBesideTalk(entry));
  return [...referenceFault(agent, agent, 'agent'), ...faults];
}

function announceFault(announce: JsonValue): string | undefined {
  return referenceFault(announce, announce, 'announce')[0]?.[1];
}

/** Returns a fault for each member that may not be used together with `talk`. */
function faultsBesideTalk({ protocol, onQuestion, timeout }: JsonObject): EntryFault[] {
  const unused = Object.entries({ protocol, onQuestion }).filter(([, value]) => value !== undefined);
  const isLong = typeof timeout === 'number' && timeout > LONGEST_TURN_SECONDS;
  return [
    ...unused.map(([member]): EntryFault => [member, 'is not for an agent tool with talk']),
    ...(isLong ? [['timeout', `must be at most ${LONGEST_TURN_SECONDS} with talk`] as const] : []),
  ];
}

/**
 * Returns the settings of the agents in `tools`, without invalid entries. If two entries share a name, the first one
 * counts.
 */
export function agentToolConfigs(tools: JsonValue | undefined): AgentToolConfig[] {
  const entries = Array.isArray(tools) ? tools.filter((it) => isAgentEntry(it) && entryFaults(it).length === 0) : [];
  const found = new Map<string, AgentToolConfig>();
  for (const config of entries.map(configOf)) if (!found.has(config.tool)) found.set(config.tool, config);
  return [...found.values()];
}

/** Returns the reference of an agent in the form that is shown to people. A URL is redacted. */
export function shownReference({ reference }: Pick<AgentToolConfig, 'reference'>): string {
  return isUrl(reference) ? redactedUrl(reference) : reference;
}

/** Returns those of the settings `credential` and `protocol` for calls to an agent that are set. */
export function reachOf({ credential, protocol }: AgentToolConfig): Pick<AgentToolConfig, 'credential' | 'protocol'> {
  return { ...(credential !== undefined && { credential }), ...(protocol && { protocol }) };
}

/** Returns the name of the tool for a valid entry of `tools`, with the prefix `agent:`. */
export function agentToolName(entry: JsonValue): string {
  return configOf(entry).tool;
}

function configOf(entry: JsonValue): AgentToolConfig {
  const members: JsonObject = isJsonObject(entry) ? entry : { agent: stringMember(entry).slice(AGENT_TOOL.length) };
  const { agent, name, description, auth, protocol, timeout, maxCalls, onQuestion, talk } = members;
  const reference = stringMember(agent);
  return {
    tool: `${AGENT_TOOL}${typeof name === 'string' ? name : deriveToolName(reference)}`,
    reference,
    ...(typeof description === 'string' && { description }),
    ...(typeof auth === 'string' && { credential: auth }),
    ...(protocol === 'founding' && { protocol }),
    limit: (typeof timeout === 'number' ? timeout : DEFAULT_SECONDS) * 1_000,
    maxCalls: typeof maxCalls === 'number' ? maxCalls : DEFAULT_CALLS,
    onQuestion: ON_QUESTION.find((word) => word === onQuestion) ?? 'model',
    ...(isJsonObject(talk) && { talk: talkConfig(talk) }),
  };
}

/**
 * Derives the name of a tool from the reference of its agent: the name of the workflow, `<workflow>_<node>`, or the
 * host and path of the URL. The name on the agent's card is not used, because it may change, or equal the name of
 * another agent.
 */
function deriveToolName(reference: string): string {
  if (isUrl(reference) && URL.canParse(reference)) {
    const { host, pathname } = new URL(calledAgentOf(new URL(reference).href));
    const name = `${host}${pathname}`.replace(/\/$/, '').replaceAll(/[^A-Za-z0-9_.:/-]/g, '_');
    return textStart(name, LONGEST_NAME);
  }
  const path = reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
  return path
    .replace(/^(workflows|nodes)\//, '')
    .replace('/nodes/', '_')
    .replaceAll('/', '_');
}

function referenceFault(
  entry: JsonValue | undefined,
  reference: JsonValue | undefined,
  member: string | undefined,
): EntryFault[] {
  const memberFault = (rule: string): EntryFault[] => [[member, rule]];
  const form = member === undefined ? NAMED : ALONE;
  const isReference = typeof entry === 'string' && typeof reference === 'string' && form.test(entry);
  if (!isReference) return memberFault('must name an agent: a workflow or a node, a path below /a2a, or a URL');
  if (reference.length > LONGEST_URL) return memberFault(`must have at most ${LONGEST_URL} characters`);
  if (!isUrl(reference)) return [];
  if (hasUserinfo(reference)) return memberFault(`${NO_USERINFO}; name a credential in auth`);
  return URL.canParse(reference) ? [] : memberFault('must be a valid URL');
}

interface MemberRule {
  must: string;
  holds: (value: JsonValue) => boolean;
}

const RULES: Record<string, MemberRule> = {
  name: {
    must: 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen',
    holds: (it) => typeof it === 'string' && NAME.test(it),
  },
  description: {
    must: `must be a string of at most ${LONGEST_DESCRIPTION} characters`,
    holds: (it) => typeof it === 'string' && it.length <= LONGEST_DESCRIPTION,
  },
  timeout: {
    must: `must be a number of seconds, from 1 to ${LONGEST_TIMEOUT_SECONDS}`,
    holds: (it) => typeof it === 'number' && it >= 1 && it <= LONGEST_TIMEOUT_SECONDS,
  },
  maxCalls: {
    must: `must be a whole number from 1 to ${MOST_CALLS}`,
    holds: (it) => Number.isInteger(it) && (it as number) >= 1 && (it as number) <= MOST_CALLS,
  },
  onQuestion: {
    must: `must be ${ON_QUESTION.join(' or ')}`,
    holds: (it) => ON_QUESTION.some((word) => word === it),
  },
};

function isUrl(reference: JsonValue | undefined): reference is string {
  return typeof reference === 'string' && /^https?:/i.test(reference);
}

function stringMember(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
