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

/** Maximum values of nodes that the answers to one request may compare with removed nodes; beyond it a node is new. */
const MOST_COMPARED = 200_000;

/** Limits the comparisons of nodes with new ids, each of which may be any removed node. */
class ComparedValues {
  private left = MOST_COMPARED;

  /** Charges this many values. @returns false if fewer are left */
  takeValues(values: number): boolean {
    this.left -= values;
    return this.left >= 0;
  }
}

/** Returns the number of values in a value, itself included. */
function valuesIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, it) => sum + valuesIn(it), 1);
}

/** Members that the service adds to a definition. */
const SHOWN = new Set(['revision', 'createdAt', 'updatedAt', 'problems', '$schema']);
/** Member of a node that stands for the node with the same id. */
const UNCHANGED = 'unchanged';

/** Changed definition, with warnings about credentials that it lost. */
export interface ChangedDefinition {
  workflow: JsonObject;
  lost: WorkflowProblem[];
}

/** Node of a changed definition, with the credentials that it lost. */
interface ChangedNode {
  node: JsonValue;
  lost: LostInNode[];
}

/** Node that the answer no longer has, and its size in values. */
interface GoneNode {
  known: JsonObject;
  values: number;
}

/** Lost credential; `path` begins in the node, and `detail` does not name the node. */
type LostInNode = Pick<WorkflowProblem, 'path' | 'detail'>;

/**
 * Definition that a model changes.
 * - No model sees its credentials and positions.
 * - A node that the model repeats, or marks as unchanged, stays exactly the node that was sent.
 * - A changed node keeps the credentials of the agents that it still calls.
 */
export class CurrentDefinition {
  private readonly nodes: ReadonlyMap<string, JsonObject>;

  /** @param compared limit that inner definitions share with the outer one */
  constructor(
    private readonly sent: JsonObject,
    private readonly compared = new ComparedValues(),
  ) {
    const nodes = objectsIn(sent['nodes']).filter((node) => typeof node['id'] === 'string');
    this.nodes = new Map(nodes.map((node) => [node['id'] as string, node]));
  }

  /** Definition as a model sees it. */
  get visible(): JsonObject {
    const { nodes, ...rest } = this.sent;
    const members = Object.entries(rest).filter(([name]) => !SHOWN.has(name));
    const visible = Array.isArray(nodes) ? nodes.map(visibleNode) : nodes && withoutInnerNames(nodes);
    return { ...Object.fromEntries(members), ...(visible !== undefined && { nodes: visible }) };
  }

  /** Merges an answer with the unchanged nodes, and with the name and the schema of the current definition. */
  applyAnswer(answer: JsonObject): ChangedDefinition {
    const { name, $schema } = this.sent;
    const nodes = Array.isArray(answer['nodes']) ? this.changedNodes(answer['nodes']) : undefined;
    const workflow = {
      ...(typeof $schema === 'string' && { $schema }),
      ...answer,
      ...(typeof name === 'string' && WORKFLOW_NAME.test(name) && { name }),
      ...(nodes && { nodes: nodes.map(({ node }) => node) }),
    };
    return { workflow, lost: nodes?.flatMap(({ node, lost }, index) => toWarnings(node, index, lost)) ?? [] };
  }

  /** Matches nodes by their ids. If several have the same id, which no definition may have, the first one matches. */
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

  /** Returns a node with a new id. If it calls an agent of a removed node, it keeps the credentials of that node. */
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

  /** Returns the config of a changed node with the credentials that it keeps. */
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

/** Returns the workflow inside a node, if any. */
function innerDefinition({ type, config }: JsonObject, compared?: ComparedValues): CurrentDefinition | undefined {
  const body = isJsonObject(config) ? config['body'] : undefined;
  const isDefinition = isJsonObject(body) && (type === 'workflow' || Array.isArray(body['nodes']));
  return isDefinition ? new CurrentDefinition(body, compared) : undefined;
}

/** Returns the lost credentials of a node as problems of its definition. */
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

/** Returns a node with a config: a missing config equals an empty one. */
function plainNode(node: JsonValue): JsonValue {
  return isJsonObject(node) ? { ...node, config: node['config'] ?? {} } : node;
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
