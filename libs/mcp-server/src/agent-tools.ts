import {
  type AgentSource,
  type ArgumentSchema,
  type BuiltInAgents,
  REGISTERED_AGENTS,
  type ServedAgent,
} from '#libs/agents';
import { dataPart, type JsonObject, type JsonValue, type Part, textPart } from '#libs/protocol';

/** Workflow or registered agent as a tool of MCP. */
export interface WorkflowTool extends JsonObject {
  name: string;
  description: string;
  inputSchema: ArgumentSchema;
}

/**
 * Prefix of the names of tools that are registered agents. The name of a workflow has no dot, so it never begins with
 * this prefix.
 */
const AGENT_PREFIX = `${REGISTERED_AGENTS}.`;
const LONGEST_SKILL = 256;

/** Schema of the arguments of a registered agent. */
const AGENT_SCHEMA: ArgumentSchema = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'What the agent is to work on' },
    data: { description: 'Data for the agent: any JSON value' },
    skill: { type: 'string', description: 'Id of the skill of the agent that the message is for' },
  },
};

/** Returns the path of a registered agent by the name of its tool; `undefined` for the name of another tool. */
export function registeredPath(tool: string): string | undefined {
  return tool.startsWith(AGENT_PREFIX) ? `${REGISTERED_AGENTS}/${tool.slice(AGENT_PREFIX.length)}` : undefined;
}

/** Returns the name of the tool of a registered agent. */
export function agentToolName(agent: string): string {
  return `${AGENT_PREFIX}${agent}`;
}

/** True for the path of a registered agent. */
export function isRegisteredPath(path: string): boolean {
  return path.startsWith(`${REGISTERED_AGENTS}/`);
}

/** Returns the tool of a registered agent. */
export function agentTool({ path, description }: Pick<ServedAgent, 'path' | 'description'>): WorkflowTool {
  return { name: agentToolName(path.slice(path.indexOf('/') + 1)), description, inputSchema: AGENT_SCHEMA };
}

/** Lists the registered agents of a tenant as tools of MCP. */
export class RegisteredTools {
  private readonly source: AgentSource | undefined;

  constructor(
    agents: Pick<BuiltInAgents, 'findSource'>,
    private readonly tenant: string,
  ) {
    this.source = agents.findSource(REGISTERED_AGENTS);
  }

  /**
   * Lists the tools of at most `limit` registered agents, sorted by name.
   * @param cursor name of the last tool of the previous page. If that tool is a workflow, the list begins with the
   *   first agent, because workflows are listed before all agents.
   */
  async listTools(limit: number, cursor = ''): Promise<WorkflowTool[]> {
    const after = cursor.startsWith(AGENT_PREFIX) ? cursor.slice(AGENT_PREFIX.length) : '';
    return ((await this.source?.listAgents(this.tenant, limit, after)) ?? []).map(agentTool);
  }
}

/** Returns the reason why a registered agent does not take arguments; `undefined` if it takes them. */
export function agentArgumentFault({ text, data, skill, ...others }: JsonObject): string | undefined {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${unknown}: is not an argument of an agent`;
  if (text !== undefined && typeof text !== 'string') return 'text: must be a string';
  if (text === undefined && data === undefined) return 'text: is required, unless there is data';
  return skill === undefined || isSkillId(skill) ? undefined : `skill: must be the id of a skill`;
}

/** Returns the Parts of the Message to a registered agent, and its metadata. */
export function agentContent({ text, data, skill }: JsonObject): { parts: Part[]; metadata: JsonObject } {
  return {
    parts: [...(typeof text === 'string' ? [textPart(text)] : []), ...(data === undefined ? [] : [dataPart(data)])],
    metadata: { ...(skill !== undefined && { skillId: skill }) },
  };
}

function isSkillId(skill: JsonValue): boolean {
  return typeof skill === 'string' && skill !== '' && skill.length <= LONGEST_SKILL;
}
