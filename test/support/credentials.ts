import { randomBytes } from 'node:crypto';
import type { JsonObject } from '#libs/protocol';
import { type Api, unique } from './workflow.js';

/** A secret that stands nowhere else, so that it can be looked for. */
export function newSecret(): string {
  return `secret-${randomBytes(12).toString('hex')}`;
}

/** Keeps a credential and gives its name; throws where it is refused. */
export async function keepCredential(api: Api, fields: JsonObject): Promise<string> {
  const name = unique('cred');
  const reply = await api.call('POST', '/credentials', { name, ...fields });
  if (reply.status !== 201) throw new Error(`Keeping a credential failed: ${reply.status} ${reply.text}`);
  return name;
}

/** Members of a card that ask for one of the given schemes, in the words of A2A 1.0. */
export function asksFor(schemes: Record<string, JsonObject>): JsonObject {
  return {
    securitySchemes: schemes,
    securityRequirements: Object.keys(schemes).map((name) => ({ schemes: { [name]: { list: [] } } })),
  };
}
