import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** The extension by which a call becomes a task that the client asks for later. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** What a client can do beyond waiting. */
export interface ClientSupport {
  tasks: boolean;
  /**
   * How its user is asked: by a result that the client answers with the same call again (2026-07-28), or by a request
   * in the open stream (2025-11-25). Absent: not at all.
   */
  asks?: 'result' | 'request';
}

/** Of a client of 2026-07-28, which says with each request what it can do. */
export function declaredSupport(capabilities: unknown): ClientSupport {
  const said = isJsonObject(capabilities as JsonValue) ? (capabilities as JsonObject) : {};
  const extensions = isJsonObject(said['extensions']) ? said['extensions'] : {};
  return {
    tasks: isJsonObject(extensions[TASKS_EXTENSION]),
    ...(takesForms(said['elicitation']) && { asks: 'result' }),
  };
}

/** A form is what an elicitation was before there were kinds of it. */
function takesForms(elicitation: JsonValue | undefined): boolean {
  return isJsonObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

const ASKABLE = 'askable-';

/**
 * The session of a client of 2025-11-25 that initializes: it only says that the client's user can be asked, so that any
 * replica knows it of each later request. `undefined` where there is nothing to say.
 */
export function sessionOf(initialize: JsonObject): string | undefined {
  const { capabilities } = initialize;
  const isAskable = isJsonObject(capabilities) && takesForms(capabilities['elicitation']);
  return isAskable ? `${ASKABLE}${randomUUID()}` : undefined;
}

/** Of a client of 2025-11-25, by its session. */
export function sessionSupport(session: string | undefined): ClientSupport {
  return { tasks: false, ...(session?.startsWith(ASKABLE) === true && { asks: 'request' }) };
}
