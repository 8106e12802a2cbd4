import { isDeepStrictEqual } from 'node:util';
import { WORKFLOW_NAME } from '#libs/orchestrator';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Members that the service shows beside a definition. */
const SHOWN = new Set(['revision', 'createdAt', 'updatedAt', 'problems', '$schema']);
/** The member of a node that stands for the node of the same id. */
const UNCHANGED = 'unchanged';

/**
 * A definition that a model changes. No model sees its credentials and positions. A node that the model repeats, or says to
 * be unchanged, is the very node that was sent.
 */
export class CurrentDefinition {
  private readonly nodes: ReadonlyMap<string, JsonObject>;

  constructor(private readonly sent: JsonObject) {
    const nodes = objectsIn(sent['nodes']).filter((node) => typeof node['id'] === 'string');
    this.nodes = new Map(nodes.map((node) => [node['id'] as string, node]));
  }

  /** Returns what a model sees. */
  get visible(): JsonObject {
    const members = Object.entries(this.sent).filter(([name]) => !SHOWN.has(name));
    const { nodes } = this.sent;
    return { ...Object.fromEntries(members), ...(Array.isArray(nodes) && { nodes: nodes.map(visibleNode) }) };
  }

  /** Returns an answer with the nodes that stay, and the name and the schema of the current definition. */
  apply(answer: JsonObject): JsonObject {
    const { name, $schema } = this.sent;
    const { nodes } = answer;
    return {
      ...(typeof $schema === 'string' && { $schema }),
      ...answer,
      ...(typeof name === 'string' && WORKFLOW_NAME.test(name) && { name }),
      ...(Array.isArray(nodes) && { nodes: nodes.map((node) => this.applyTo(node)) }),
    };
  }

  private applyTo(node: JsonValue): JsonValue {
    const known = isJsonObject(node) && typeof node['id'] === 'string' ? this.nodes.get(node['id']) : undefined;
    if (!isJsonObject(node) || known === undefined) return node;
    if (node[UNCHANGED] === true) return known;
    const { position: _position, [UNCHANGED]: _unchanged, ...written } = node;
    if (isDeepStrictEqual(plainNode(written), plainNode(visibleNode(known)))) return known;
    const { position } = known;
    return { ...written, ...credentialOf(known, written), ...(position !== undefined && { position }) };
  }
}

function visibleNode(node: JsonValue): JsonValue {
  if (!isJsonObject(node)) return node;
  const { position: _position, config, ...rest } = node;
  return { ...rest, ...(config !== undefined && { config: visibleConfig(config) }) };
}

/** Removes the names of credentials: of the node, of each agent of a brainstorm, and of the nodes of an inner workflow. */
function visibleConfig(config: JsonValue): JsonValue {
  if (!isJsonObject(config)) return config;
  const { auth: _auth, ...rest } = config;
  const { agents, body } = rest;
  return {
    ...rest,
    ...(Array.isArray(agents) && { agents: agents.map(visibleConfig) }),
    ...(isJsonObject(body) &&
      Array.isArray(body['nodes']) && { body: { ...body, nodes: body['nodes'].map(visibleNode) } }),
  };
}

/** A node without a config is one with an empty config. */
function plainNode(node: JsonValue): JsonValue {
  return isJsonObject(node) ? { ...node, config: node['config'] ?? {} } : node;
}

/** Returns the config with the credential of a changed `external` node, if it still calls the same agent. */
function credentialOf(known: JsonObject, written: JsonObject): { config?: JsonObject } {
  const [before, after] = [known['config'], written['config']];
  if (!isJsonObject(before) || !isJsonObject(after) || before['auth'] === undefined) return {};
  const isSame = written['type'] === 'external' && before['endpoint_url'] === after['endpoint_url'];
  return isSame ? { config: { ...after, auth: before['auth'] } } : {};
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
