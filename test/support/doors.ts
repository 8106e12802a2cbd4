import { rest } from './a2a.js';
import type { RestReply } from './a2a.js';
import { unique } from './workflow.js';

/** Registers an agent at a service. @returns the agent's name and its base URL there */
export async function openDoor(
  service: string,
  url: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<{ name: string; base: string }> {
  const name = unique('door');
  const reply = await register(service, { name, url, ...fields }, headers);
  if (reply.status !== 201) throw new Error(`The agent was not registered: ${JSON.stringify(reply.body)}`);
  return { name, base: `${service}/a2a/agents/${name}` };
}

export function register(
  service: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<RestReply<Record<string, unknown>>> {
  return rest(`${service}/api`, 'POST', '/agents', { body, headers });
}
