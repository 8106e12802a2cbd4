import { isJsonObject, type JsonValue } from '#libs/protocol';

/** Prefix of the name of a tool that is an agent: in a config before its reference, in events before its name. */
export const AGENT_TOOL = 'agent:';

/** Tool of a config that is an agent. */
export interface AgentToolEntry {
  /** Index in the list of tools, from 0. */
  index: number;
  /** Name of the agent, its path below `/a2a`, or its URL. */
  reference: string;
  /** Agent to which the end is announced, if the call is a conversation. */
  announce?: string;
}

/** Returns the tools of an `agent` node's config that are agents. Skips entries without a reference. */
export function agentToolEntries(tools: JsonValue | undefined): AgentToolEntry[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((entry, index) => {
    const reference = referenceIn(entry);
    const announce = announceIn(entry);
    return reference === undefined ? [] : [{ index, reference, ...(announce !== undefined && { announce }) }];
  });
}

function announceIn(entry: JsonValue): string | undefined {
  const talk = isJsonObject(entry) ? entry.talk : undefined;
  const announce = isJsonObject(talk) ? talk.announce : undefined;
  return typeof announce === 'string' && announce !== '' ? announce : undefined;
}

function referenceIn(entry: JsonValue): string | undefined {
  if (typeof entry === 'string') return entry.startsWith(AGENT_TOOL) ? entry.slice(AGENT_TOOL.length) : undefined;
  const agent = isJsonObject(entry) ? entry.agent : undefined;
  return typeof agent === 'string' && agent !== '' ? agent : undefined;
}
