import {
  type AgentExecutor,
  type ConfigSchema,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  NodeTypes,
  UnknownAgent,
} from '#libs/agents';
import { SharedUse } from '#libs/expressions';
import { type JsonObject, nameHint } from '#libs/protocol';

/** Finds the node types of this process by name. */
export class NodeTypeRegistry extends NodeTypes {
  readonly #types: ReadonlyMap<string, NodeType>;
  /**
   * Executors by config object. An executor, for example with a compiled script, stays cached as long as the definition
   * of its workflow is in memory.
   */
  readonly #executors = new WeakMap<JsonObject, { node: NodeSpec; executor: AgentExecutor }>();

  constructor(types: readonly NodeType[]) {
    super();
    this.#types = new Map(types.map((type) => [type.name, type]));
  }

  override get names(): readonly string[] {
    return [...this.#types.keys()];
  }

  override configSchema(type: string): ConfigSchema | undefined {
    return this.#types.get(type)?.configSchema;
  }

  override createExecutor(node: NodeSpec): AgentExecutor {
    const kept = this.#executors.get(node.config);
    if (kept && kept.node.id === node.id && kept.node.type === node.type) return kept.executor;
    const type = this.#types.get(node.type);
    if (!type) throw new UnknownAgent(`no executor for node type "${node.type}"`, 'NO_EXECUTOR', { type: node.type });
    const executor = type.createExecutor(node);
    this.#executors.set(node.config, { node, executor });
    return executor;
  }

  override findProblems(node: NodeSpec, use = new SharedUse()): NodeProblem[] {
    const type = this.#types.get(node.type);
    if (type) return type.findProblems(node, use);
    const detail = `unknown node type "${node.type}"${nameHint(node.type, this.#types.keys())}`;
    return [{ path: 'type', detail }];
  }
}
