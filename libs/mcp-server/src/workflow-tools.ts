import { argumentSchema, type ArgumentSchema, type ServedAgent } from '#libs/executor';
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

/** Workflow as a tool. */
export interface WorkflowTool extends JsonObject {
  name: string;
  description: string;
  inputSchema: ArgumentSchema;
}

const PAGE = 200;

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const CONTEXT = 'parley/contextId';

/** Arguments of a workflow without inputs. */
const TEXT_SCHEMA: ArgumentSchema = {
  type: 'object',
  properties: { text: { type: 'string', description: 'What the workflow is to work on' } },
};

/**
 * Lists the workflows of an agent as tools, by name: all of the service, or the one workflow.
 * @param cursor name that the previous page ended with
 */
export async function toolsOf(
  agent: ServedAgent,
  cursor?: string,
): Promise<{ tools: WorkflowTool[]; nextCursor?: string }> {
  const { skills, schemas } = (await agent.details?.()) ?? { skills: [], schemas: {} };
  // Skills of nodes are listed too; they have no schemas.
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

/** Returns the path of the agent behind a tool. @throws McpError for a name that no workflow can have */
export function toolPath(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return `workflows/${name}`;
  const shown = typeof name === 'string' ? textStart(name, 64) : '';
  throw new McpError(INVALID_PARAMS, `workflow "${shown}" not found`, 404);
}

/**
 * Returns the Message for a call: its arguments as data by the names of the inputs, or the text for a workflow without
 * inputs.
 * @param meta metadata that the client sent with the call
 * @param key `Idempotency-Key` of the call; repeated calls with a key make the same Message
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

/** Returns the context to continue, under A2A's rule for ids. @throws McpError */
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
