import { argumentSchema, type ArgumentSchema, type ServedAgent } from '#libs/agents';
import {
  dataPart,
  derivedId,
  isIdentifier,
  type JsonObject,
  type JsonValue,
  type Message,
  NO_ID,
  textPart,
  textStart,
  userMessage,
} from '#libs/protocol';
import { INVALID_PARAMS, McpError } from './mcp-error.js';

/** Workflow as a tool of MCP. */
export interface WorkflowTool extends JsonObject {
  name: string;
  description: string;
  inputSchema: ArgumentSchema;
}

/** Maximum number of tools of one page. */
const PAGE = 200;

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const CONTEXT = 'parley/contextId';

/** Schema of the arguments of a workflow without inputs. */
const TEXT_SCHEMA: ArgumentSchema = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What the workflow is to work on' } },
};

/**
 * Lists workflows as tools, sorted by name: all of the service, or the one workflow that the request was sent to.
 * @param cursor name of the last tool of the previous page
 */
export async function toolsOf(
  agent: ServedAgent,
  cursor?: string,
): Promise<{ tools: WorkflowTool[]; nextCursor?: string }> {
  const { skills, schemas } = (await agent.details?.()) ?? { skills: [], schemas: {} };
  // `skills` has the skills of nodes too, which have no schemas.
  const workflows = skills.filter(({ id }) => Object.hasOwn(schemas, id));
  const after = cursor === undefined ? workflows : workflows.filter(({ id }) => id > cursor);
  const tools = after.slice(0, PAGE).map(({ id, description }) => ({
    name: id,
    description,
    inputSchema: argumentSchema(schemas[id]?.input ?? {}) ?? TEXT_SCHEMA,
  }));
  const last = tools.at(-1);
  return { tools, ...(last && after.length > tools.length && { nextCursor: last.name }) };
}

/** Returns the path of the agent of a workflow. @throws McpError for a name that no workflow can have */
export function toolPath(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return `workflows/${name}`;
  const shown = typeof name === 'string' ? textStart(name, 64) : '';
  throw new McpError(INVALID_PARAMS, `workflow "${shown}" not found`, 404);
}

/**
 * Returns the Message for a call. Its arguments become data, by the names of the inputs. For a workflow without inputs,
 * the argument `text` becomes the text.
 * @param meta `_meta` that the client sent with the call
 * @param key `Idempotency-Key` of the call; calls with the same key give a Message with the same id
 * @throws McpError for an invalid context id
 */
export async function callMessage(
  agent: ServedAgent,
  args: JsonObject,
  meta: JsonObject,
  key: string | undefined,
): Promise<Message> {
  const { text, ...others } = args;
  const takesText = !(await hasInputs(agent)) && Object.keys(others).length === 0;
  const parts =
    takesText && (text === undefined || typeof text === 'string') ? [textPart(text ?? '')] : [dataPart(args)];
  const contextId = contextOf(meta);
  const trace = Object.fromEntries(['traceparent', 'tracestate'].flatMap((name) => textMember(meta, name)));
  return userMessage(parts, {
    ...(key !== undefined && { messageId: derivedId('mcp', agent.path, key) }),
    ...(contextId !== undefined && { contextId }),
    ...(Object.keys(trace).length > 0 && { metadata: trace }),
  });
}

/** Returns the id of the context to continue, if the client names one. @throws McpError for an invalid id */
function contextOf({ [CONTEXT]: given }: JsonObject): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  if (isIdentifier(given)) return given;
  throw new McpError(INVALID_PARAMS, `_meta["${CONTEXT}"]: ${NO_ID}`);
}

function textMember(meta: JsonObject, name: string): [string, JsonValue][] {
  const value = meta[name];
  return typeof value === 'string' ? [[name, value]] : [];
}

async function hasInputs(agent: ServedAgent): Promise<boolean> {
  const { input } = (await agent.details?.())?.schemas[agent.name] ?? {};
  return input !== undefined && argumentSchema(input) !== undefined;
}
