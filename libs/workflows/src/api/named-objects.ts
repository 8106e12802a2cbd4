import { registeredAgentPath } from '#libs/agents';
import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import {
  errorProblem,
  innerNodes,
  warningProblem,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '#libs/workflow-definition';

/** Object (registered agent, model or MCP server) that the config of a node refers to by name. */
interface NamedObject {
  name: string;
  /** Path in the definition, for example `nodes[2].config.tools[0]`. */
  path: string;
  /** Id of the top-level node that names the object, or whose inline workflow contains the naming node. */
  node: string;
  /** Type of the node that names the object. */
  type: string;
}

export type ObjectPlace = Pick<NamedObject, 'name' | 'path'>;

/**
 * Lookups of objects that workflows refer to by name. If the lookup of a kind is absent, names of that kind are not
 * checked.
 */
export interface ObjectLookups {
  hasAgent?: (name: string) => Promise<boolean>;
  hasServer?: (name: string) => Promise<boolean>;
  hasModel?: (name: string) => Promise<boolean>;
}

/** Maximum number of different names of a kind that are looked up for one definition. */
const MOST_LOOKED_UP = 100;

/**
 * Finds registered agents, MCP servers and models that nodes name but that do not exist, and returns warnings: they may
 * be created later.
 * - A tool `workflows/x`, `nodes/x` or `agents/x` is read as a tool of an MCP server. If that server does not exist,
 *   the author probably meant an agent, and the warning shows how to name one.
 * - Names with templates or expressions are not checked.
 * @param describeMissing returns the sentence for a missing object, such as `registered agent "x"`
 */
export async function findUnknownObjects(
  definition: WorkflowDefinition,
  { hasAgent, hasServer, hasModel }: ObjectLookups,
  describeMissing = (object: string) => `there is no ${object}`,
): Promise<WorkflowProblem[]> {
  const models = hasModel ? listNamedObjects(definition, ['agent'], listModels) : [];
  const tools = hasServer ? listNamedObjects(definition, ['agent', 'tool'], listServerTools) : [];
  const agents = hasAgent ? listNamedObjects(definition, ['external'], listRegisteredAgents) : [];
  const missing = {
    models: await findMissing(
      models.map(({ name }) => name),
      hasModel,
    ),
    servers: await findMissing(
      tools.map(({ name }) => readServerName(name)),
      hasServer,
    ),
    agents: await findMissing(
      agents.map(({ name }) => name),
      hasAgent,
    ),
  };
  const problemOf = (code: string, { path, node, type }: NamedObject, text: string): WorkflowProblem =>
    warningProblem(code, path, `${type} node "${node}": ${text}`, { node });
  return [
    ...models
      .filter(({ name }) => missing.models.has(name))
      .map((it) => problemOf('UNKNOWN_MODEL', it, describeMissing(`model "${textStart(it.name, LONGEST_QUOTE)}"`))),
    ...tools
      .filter(({ name }) => missing.servers.has(readServerName(name)))
      .map((it) => problemOf('UNKNOWN_TOOL_SERVER', it, describeTool(it, describeMissing))),
    ...agents
      .filter(({ name }) => missing.agents.has(name))
      .map((it) => problemOf('UNKNOWN_REGISTERED_AGENT', it, describeMissing(`registered agent "${it.name}"`))),
  ];
}

/**
 * Finds models without a price, and returns errors: a budget that limits the cost needs the price of each model. A node
 * that names no model has the default model, whose name is empty in `isPriced`.
 */
export async function findUnpricedModels(
  definition: WorkflowDefinition,
  isPriced: (name: string | undefined) => Promise<boolean>,
): Promise<WorkflowProblem[]> {
  const named = listNamedObjects(definition, ['agent'], listCalledModels);
  const names = named.map(({ name }) => name);
  const unpriced = await findMissing(names, (name) => isPriced(name === '' ? undefined : name));
  return named
    .filter(({ name }) => unpriced.has(name))
    .map(({ name, path, node, type }) => {
      const model = name === '' ? 'the default model' : `the model "${textStart(name, LONGEST_QUOTE)}"`;
      const detail = `${type} node "${node}": ${model} has no price, which budget.usd needs`;
      return errorProblem('UNPRICED_MODEL', path, detail, { node });
    });
}

/** Returns the models that a config names; without `model` also the default model, under an empty name. */
function listCalledModels(config: JsonObject, place: string): ObjectPlace[] {
  const isDefault = config.model === undefined || config.model === null || config.model === '';
  return [...(isDefault ? [{ name: '', path: `${place}.model` }] : []), ...listModels(config, place)];
}

/** Returns the names of objects that the lookup does not find. */
async function findMissing(
  names: readonly string[],
  has: ((name: string) => Promise<boolean>) | undefined,
): Promise<Set<string>> {
  const missing = new Set<string>();
  for (const name of [...new Set(names)].slice(0, MOST_LOOKED_UP)) if (!(await has?.(name))) missing.add(name);
  return missing;
}

/** Maximum number of characters of a name that a warning quotes. */
const LONGEST_QUOTE = 128;

/**
 * Pattern of an agent's path below `/a2a`. A tool name of this form means a tool of the MCP server `workflows`, `nodes`
 * or `agents`.
 */
const AGENT_LIKE = /^(workflows|nodes|agents)\//;

function describeTool({ name }: NamedObject, describeMissing: (object: string) => string): string {
  const server = readServerName(name);
  if (!AGENT_LIKE.test(name)) return describeMissing(`MCP server "${server}"`);
  const quoted = textStart(name, LONGEST_QUOTE);
  return `"${quoted}" names a tool of an MCP server "${server}", which does not exist; name an agent as "agent:${quoted}"`;
}

/**
 * Returns the objects to which the nodes of the given types refer by name. Nodes of inline workflows are included.
 * @param find returns the objects that one config names; `place` is the path of the config
 */
export function listNamedObjects(
  { nodes }: WorkflowDefinition,
  types: readonly string[],
  find: (config: JsonObject, place: string) => ObjectPlace[],
): NamedObject[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    listInConfig(node, types, { place: `nodes[${index}].config`, find }).map((it) => ({ ...it, node: node.id })),
  );
}

function listInConfig(
  { type, config }: { type?: JsonValue; config?: JsonValue },
  types: readonly string[],
  { place, find }: { place: string; find: (config: JsonObject, place: string) => ObjectPlace[] },
): Omit<NamedObject, 'node'>[] {
  if (!isJsonObject(config)) return [];
  if (typeof type === 'string' && types.includes(type)) return find(config, place).map((it) => ({ ...it, type }));
  return innerNodes(config.body).flatMap((it, index) =>
    isJsonObject(it) ? listInConfig(it, types, { place: `${place}.body.nodes[${index}].config`, find }) : [],
  );
}

function listModels({ model, fallbacks }: JsonObject, place: string): ObjectPlace[] {
  const others = Array.isArray(fallbacks) ? fallbacks : [];
  return [
    { name: model, path: `${place}.model` },
    ...others.map((name, index) => ({ name, path: `${place}.fallbacks[${index}]` })),
  ].flatMap(({ name, path }) => (isPlainName(name) ? [{ name, path }] : []));
}

/** True for a string without a template or an expression; false for an empty string. */
function isPlainName(name: JsonValue | undefined): name is string {
  return typeof name === 'string' && name !== '' && !/\{\{|\$\{/.test(name);
}

/** Pattern of the name of an MCP tool, `server/tool`; the tool may be a pattern. */
const SERVER_TOOL = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\//;

function listServerTools({ tool, tools, approve }: JsonObject, place: string): ObjectPlace[] {
  const entriesOf = (member: string, entries: JsonValue | undefined): { name: JsonValue; path: string }[] =>
    (Array.isArray(entries) ? entries : []).map((name, index) => ({ name, path: `${place}.${member}[${index}]` }));
  return [
    ...(tool === undefined ? [] : [{ name: tool, path: `${place}.tool` }]),
    ...entriesOf('tools', tools),
    ...entriesOf('approve', approve),
  ].flatMap(({ name, path }) => (isPlainName(name) && SERVER_TOOL.test(name) ? [{ name, path }] : []));
}

function listRegisteredAgents(config: JsonObject, place: string): ObjectPlace[] {
  const path = registeredAgentPath(config);
  return path === undefined ? [] : [{ name: path.slice(path.indexOf('/') + 1), path: `${place}.agent` }];
}

function readServerName(tool: string): string {
  return tool.slice(0, tool.indexOf('/'));
}
