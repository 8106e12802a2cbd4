import { argumentSchema, type ArgumentSchema, type ServedAgent } from '#libs/agents';
import {
  dataPart,
  derivedId,
  isIdentifier,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  NO_ID,
  type Part,
  textPart,
  textStart,
  userMessage,
} from '#libs/protocol';
import {
  agentContent,
  agentTool,
  type RegisteredTools,
  isRegisteredPath,
  registeredPath,
  type WorkflowTool,
} from './agent-tools.js';
import { INVALID_PARAMS, McpError } from './mcp-error.js';

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
 * Lists one page of the tools of an endpoint. The endpoint of the service (`/mcp`) has all workflows, sorted by name,
 * and then all registered agents. Any other endpoint has one tool: its workflow or registered agent.
 * @param cursor name of the last tool of the previous page
 */
export async function toolsOf(
  agent: ServedAgent,
  agents: Pick<RegisteredTools, 'listTools'>,
  cursor?: string,
): Promise<{ tools: WorkflowTool[]; nextCursor?: string }> {
  if (isRegisteredPath(agent.path)) return { tools: [agentTool(agent)] };
  const { tools, isWhole } = await workflowTools(agent, cursor);
  const room = PAGE - tools.length;
  const more = isWhole && agent.path === '' ? await agents.listTools(room + 1, cursor) : [];
  const page = [...tools, ...more.slice(0, room)];
  const last = page.at(-1);
  return { tools: page, ...(last && (!isWhole || more.length > room) && { nextCursor: last.name }) };
}

async function workflowTools(
  agent: ServedAgent,
  cursor: string | undefined,
): Promise<{ tools: WorkflowTool[]; isWhole: boolean }> {
  if (cursor !== undefined && registeredPath(cursor) !== undefined) return { tools: [], isWhole: true };
  const { skills, schemas } = (await agent.details?.()) ?? { skills: [], schemas: {} };
  // `skills` has the skills of nodes too, which have no schemas.
  const workflows = skills.filter(({ id }) => Object.hasOwn(schemas, id));
  const after = cursor === undefined ? workflows : workflows.filter(({ id }) => id > cursor);
  const tools = after.slice(0, PAGE).map(({ id, description }) => ({
    name: id,
    description,
    inputSchema: argumentSchema(schemas[id]?.input ?? {}) ?? TEXT_SCHEMA,
  }));
  return { tools, isWhole: after.length === tools.length };
}

/** Returns the path of the agent of a tool. @throws McpError for a name that no tool can have */
export function toolPath(name: unknown): string {
  const registered = typeof name === 'string' ? registeredPath(name) : undefined;
  if (registered !== undefined && NAME.test(registered.slice(registered.indexOf('/') + 1))) return registered;
  if (typeof name === 'string' && NAME.test(name)) return `workflows/${name}`;
  const shown = typeof name === 'string' ? textStart(name, 64) : '';
  throw new McpError(INVALID_PARAMS, `${registered === undefined ? 'workflow' : 'agent'} "${shown}" not found`, 404);
}

/**
 * Returns the Message for a call of a tool. The arguments of the call become data, by the names of the inputs. For a
 * workflow without inputs, the argument `text` becomes the text. For a registered agent, see `agentContent`.
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
  const { parts, metadata } = isRegisteredPath(agent.path) ? agentContent(args) : await workflowContent(agent, args);
  const contextId = contextOf(meta);
  const trace = Object.fromEntries(['traceparent', 'tracestate'].flatMap((name) => textMember(meta, name)));
  return userMessage(parts, {
    ...(key !== undefined && { messageId: derivedId('mcp', agent.path, key) }),
    ...(contextId !== undefined && { contextId }),
    ...(Object.keys({ ...trace, ...metadata }).length > 0 && { metadata: { ...trace, ...metadata } }),
  });
}

async function workflowContent(
  agent: ServedAgent,
  given: JsonObject,
): Promise<{ parts: Part[]; metadata?: undefined }> {
  const schema = await schemaOf(agent);
  const args = schema ? withoutNulls(given, schema) : given;
  const { text, ...others } = args;
  const takesText = schema === undefined && Object.keys(others).length === 0;
  const isText = takesText && (text === undefined || typeof text === 'string');
  return { parts: isText ? [textPart(text ?? '')] : [dataPart(args)] };
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

/** Returns the schema of the arguments of a workflow; `undefined` for a workflow without inputs. */
async function schemaOf(agent: ServedAgent): Promise<ArgumentSchema | undefined> {
  const { input } = (await agent.details?.())?.schemas[agent.name] ?? {};
  return input && argumentSchema(input);
}

/**
 * Leaves out the arguments that are null although their schema has a type without null: many clients send null for an
 * argument that is not given.
 */
function withoutNulls(args: JsonObject, { properties }: ArgumentSchema): JsonObject {
  const isMissing = (name: string): boolean => {
    const property = isJsonObject(properties) ? properties[name] : undefined;
    const type = isJsonObject(property) ? property['type'] : undefined;
    return args[name] === null && typeof type === 'string' && type !== 'null';
  };
  return Object.fromEntries(Object.entries(args).filter(([name]) => !isMissing(name)));
}
