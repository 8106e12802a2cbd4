import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { WORKFLOW_NAME, type WorkflowProblem } from '#libs/workflow-definition';
import {
  type CallingNode,
  hasInnerNames,
  keptCredentials,
  withoutCredentials,
  withoutInnerNames,
  withoutNames,
} from './kept-credentials.js';

/**
 * Maximum number of JSON values that one request may compare, for all answers of the model together. Nodes are compared
 * to find out which removed node a node with a new id replaces. After the maximum, every node with a new id counts as
 * new.
 */
const MOST_COMPARED = 200_000;

/** Limits how many JSON values are compared to match nodes with new ids to removed nodes. */
class ComparedValues {
  private left = MOST_COMPARED;

  /** Charges a number of values. @returns false if the limit is exceeded */
  takeValues(values: number): boolean {
    this.left -= values;
    return this.left >= 0;
  }
}

/** Returns the number of JSON values in a value, itself included. */
function valuesIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, it) => sum + valuesIn(it), 1);
}

/** Members of a definition that are hidden from the model, because it must not change them. */
const SHOWN = new Set(['revision', 'createdAt', 'updatedAt', 'problems', '$schema']);
/** Member of an answered node (`{"id": …, "unchanged": true}`) that stands for the current node with the same id. */
const UNCHANGED = 'unchanged';

/** Changed definition, with a warning for each credential that it lost. */
export interface ChangedDefinition {
  workflow: JsonObject;
  lost: WorkflowProblem[];
}

/** Node of a changed definition, with the credentials that it lost. */
interface ChangedNode {
  node: JsonValue;
  lost: LostInNode[];
}

/** Current node that names credentials and that the answer no longer has, with its size in JSON values. */
interface GoneNode {
  known: JsonObject;
  values: number;
}

/** Warning about a lost credential. `path` is relative to the node, and `detail` does not name the node. */
type LostInNode = Pick<WorkflowProblem, 'path' | 'detail'>;

/**
 * Current definition of a workflow, which a model is asked to change.
 * - The model sees no names of credentials, no positions of nodes and no notes.
 * - A node that the model repeats, or marks as unchanged, stays exactly as the caller sent it.
 * - A changed node keeps the credentials of the agents that it still calls.
 */
export class CurrentDefinition {
  private readonly nodes: ReadonlyMap<string, JsonObject>;

  /** @param compared limit of comparisons, which definitions inside of nodes share with the outer definition */
  constructor(
    private readonly sent: JsonObject,
    private readonly compared = new ComparedValues(),
  ) {
    const nodes = objectsIn(sent['nodes']).filter((node) => typeof node['id'] === 'string');
    this.nodes = new Map(nodes.map((node) => [node['id'] as string, node]));
  }

  /**
   * Definition as the model sees it: without credentials, positions, notes, and the members that the service manages
   * (SHOWN).
   */
  get visible(): JsonObject {
    const { nodes, notes: _notes, ...rest } = this.sent;
    const members = Object.entries(rest).filter(([name]) => !SHOWN.has(name));
    const visible = Array.isArray(nodes) ? nodes.map(visibleNode) : nodes && withoutInnerNames(nodes);
    return { ...Object.fromEntries(members), ...(visible !== undefined && { nodes: visible }) };
  }

  /**
   * Merges an answer of the model with the unchanged nodes, and with the name, the notes and the `$schema` of the
   * current definition.
   */
  applyAnswer(answer: JsonObject): ChangedDefinition {
    const { name, $schema, notes } = this.sent;
    const nodes = Array.isArray(answer['nodes']) ? this.changedNodes(answer['nodes']) : undefined;
    const workflow = {
      ...(typeof $schema === 'string' && { $schema }),
      ...answer,
      ...(typeof name === 'string' && WORKFLOW_NAME.test(name) && { name }),
      ...(nodes && { nodes: nodes.map(({ node }) => node) }),
      ...(notes !== undefined && { notes }),
    };
    return { workflow, lost: nodes?.flatMap(({ node, lost }, index) => toWarnings(node, index, lost)) ?? [] };
  }

  /**
   * Matches the nodes of an answer to the current nodes by id. If several nodes of the answer have the same id, which
   * is invalid, the first one is matched.
   */
  private changedNodes(nodes: JsonValue[]): ChangedNode[] {
    const ids = new Set(objectsIn(nodes).map(({ id }) => id));
    const gone = [...this.nodes.values()].filter(({ id, config }) => !ids.has(id) && hasInnerNames(config));
    const sources = gone.map((known) => ({ known, values: valuesIn(known) }));
    const open = new Map(this.nodes);
    return nodes.map((node) => {
      if (!isJsonObject(node)) return { node, lost: [] };
      const { id } = node;
      const known = typeof id === 'string' ? open.get(id) : undefined;
      if (known) open.delete(id as string);
      return known === undefined ? this.renamedNode(node, sources) : this.changedNode(node, known);
    });
  }

  private changedNode(node: JsonObject, known: JsonObject): ChangedNode {
    if (node[UNCHANGED] === true) return { node: known, lost: [] };
    const { position: _position, [UNCHANGED]: _unchanged, ...written } = node;
    if (isDeepStrictEqual(plainNode(written), plainNode(visibleNode(known)))) return { node: known, lost: [] };
    const { position } = known;
    const { config, lost } = this.changedConfig(written, known);
    return { node: { ...written, ...(config && { config }), ...(position !== undefined && { position }) }, lost };
  }

  /**
   * Returns a node with a new id. If it calls an agent that a removed node called, it keeps the credentials of the
   * removed node.
   */
  private renamedNode(node: JsonObject, gone: readonly GoneNode[]): ChangedNode {
    const own = gone.length > 0 ? valuesIn(node) : 0;
    for (const { known, values } of gone) {
      if (known['type'] !== node['type']) continue;
      if (!this.compared.takeValues(own + values)) break;
      const { config, lost } = this.changedConfig(node, known);
      if (config && !isDeepStrictEqual(config, node['config'])) return { node: { ...node, config }, lost };
    }
    return { node, lost: [] };
  }

  /** Returns the config of a changed node with the credentials that it keeps, and the credentials that it lost. */
  private changedConfig(written: JsonObject, known: JsonObject): { config?: JsonObject; lost: LostInNode[] } {
    const [before, after] = [known['config'], written['config']];
    if (!isJsonObject(before) || !isJsonObject(after)) return { lost: [] };
    const { members, lost } = keptCredentials(toCallingNode(known, before), toCallingNode(written, after));
    const own = lost.map(({ member, detail }) => {
      return { path: member === '' ? 'config' : `config.${member}`, detail: `the credential ${detail}` };
    });
    const inner = isJsonObject(after['body'])
      ? innerDefinition(known, this.compared)?.applyAnswer(after['body'])
      : undefined;
    return {
      config: { ...after, ...members, ...(inner && { body: inner.workflow }) },
      lost: [...own, ...(inner?.lost ?? []).map(({ path, detail }) => ({ path: `config.body.${path}`, detail }))],
    };
  }
}

function toCallingNode({ type }: JsonObject, config: JsonObject): CallingNode {
  return { type: typeof type === 'string' ? type : '', config };
}

/** Returns the definition inside a node (`config.body`), if any. */
function innerDefinition({ type, config }: JsonObject, compared?: ComparedValues): CurrentDefinition | undefined {
  const body = isJsonObject(config) ? config['body'] : undefined;
  const isDefinition = isJsonObject(body) && (type === 'workflow' || Array.isArray(body['nodes']));
  return isDefinition ? new CurrentDefinition(body, compared) : undefined;
}

/** Converts the lost credentials of a node to warnings of the definition. @param index index of the node in `nodes` */
function toWarnings(node: JsonValue, index: number, lost: readonly LostInNode[]): WorkflowProblem[] {
  const { id, type } = isJsonObject(node) ? node : {};
  const [typeName = '', idName = ''] = [type, id].map((it) => (typeof it === 'string' ? it : ''));
  return lost.map(({ path, detail }) => ({
    severity: 'warning',
    code: 'CREDENTIAL_LEFT_OUT',
    detail: `${typeName} node "${idName}": ${detail}`,
    path: `nodes[${index}].${path}`,
    node: idName,
  }));
}

function visibleNode(node: JsonValue): JsonValue {
  if (!isJsonObject(node)) return withoutInnerNames(node);
  const { position: _position, config, ...rest } = withoutNames(node);
  if (config === undefined) return rest;
  const visible = withoutCredentials(config);
  const body = innerDefinition(node)?.visible;
  return { ...rest, config: isJsonObject(visible) && body ? { ...visible, body } : visible };
}

/** Returns a node with an empty config if it has none, so that both forms compare as equal. */
function plainNode(node: JsonValue): JsonValue {
  return isJsonObject(node) ? { ...node, config: node['config'] ?? {} } : node;
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
