import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Extension of MCP by which a call becomes a task that the client polls. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Optional capabilities of a client. */
export interface ClientSupport {
  tasks: boolean;
  /**
   * Way to ask the client's user:
   * - `result`: the result asks, and the client repeats the call with the answers (2026-07-28).
   * - `request`: a request in the open stream (2025-11-25).
   * - Absent: the user cannot be asked.
   */
  asks?: 'result' | 'request';
}

/** Returns the capabilities that a client of 2026-07-28 declares with each request. */
export function declaredSupport(capabilities: unknown): ClientSupport {
  const said = isJsonObject(capabilities as JsonValue) ? (capabilities as JsonObject) : {};
  const extensions = isJsonObject(said['extensions']) ? said['extensions'] : {};
  return {
    tasks: isJsonObject(extensions[TASKS_EXTENSION]),
    ...(takesForms(said['elicitation']) && { asks: 'result' }),
  };
}

/** True if the client supports forms. An elicitation without any mode is a form. */
function takesForms(elicitation: JsonValue | undefined): boolean {
  return isJsonObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

const ASKABLE = 'askable-';

/**
 * Returns a session id for an initializing client of 2025-11-25; `undefined` if its user cannot be asked. The id itself
 * says that the user can be asked, so every replica knows it from each later request.
 */
export function sessionOf(initialize: JsonObject): string | undefined {
  const { capabilities } = initialize;
  const isAskable = isJsonObject(capabilities) && takesForms(capabilities['elicitation']);
  return isAskable ? `${ASKABLE}${randomUUID()}` : undefined;
}

/** Returns the capabilities of a client of 2025-11-25, read from its session id. */
export function sessionSupport(session: string | undefined): ClientSupport {
  return { tasks: false, ...(session?.startsWith(ASKABLE) === true && { asks: 'request' }) };
}
