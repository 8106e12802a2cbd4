import { randomBytes } from 'node:crypto';
import type { JsonObject } from '#libs/protocol';
import { type Api, unique } from './workflow.js';

/** Creates a secret that occurs nowhere else, so that tests can search for it. */
export function newSecret(): string {
  return `secret-${randomBytes(12).toString('hex')}`;
}

/** Stores a credential and returns its name; throws if it is refused. */
export async function keepCredential(api: Api, fields: JsonObject): Promise<string> {
  const name = unique('cred');
  const reply = await api.call('POST', '/credentials', { name, ...fields });
  if (reply.status !== 201) throw new Error(`Keeping a credential failed: ${reply.status} ${reply.text}`);
  return name;
}

/** Returns members of a card of A2A 1.0 that require one of the given schemes. */
export function asksFor(schemes: Record<string, JsonObject>): JsonObject {
  return {
    securitySchemes: schemes,
    securityRequirements: Object.keys(schemes).map((name) => ({ schemes: { [name]: { list: [] } } })),
  };
}
