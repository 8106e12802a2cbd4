import type { AgentExecutor, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { firstData, firstText, isJsonObject, type JsonObject, type Message } from '#libs/protocol';
import { ConfigProblems } from './config-problems.js';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { resultParts } from './result-parts.js';
import { withText } from './text-placeholder.js';
import type { ToolRegistry } from './tools/tool-registry.js';

/** `tool`: runs a registered tool. */
export class ToolNode implements NodeType {
  readonly name = 'tool';

  constructor(private readonly tools: ToolRegistry) {}

  problems(node: NodeSpec): string[] {
    const { tool } = node.config;
    const problems = new ConfigProblems(node).check('args', 'must be an object', isJsonObject);
    if (typeof tool !== 'string' || tool === '') return problems.unless(false, 'missing tool config').found;
    const known = this.tools.names.join(', ');
    return problems.unless(this.tools.find(tool) !== undefined, `unknown tool "${tool}" (known: ${known})`).found;
  }

  executor(node: NodeSpec): AgentExecutor {
    return new ToolExecutor(node, this.tools);
  }
}

class ToolExecutor extends NodeExecutor {
  override readonly recovery: 'restart' | 'fail';
  readonly #tool: string;

  constructor(
    node: NodeSpec,
    private readonly tools: ToolRegistry,
  ) {
    super(node);
    this.#tool = typeof node.config.tool === 'string' ? node.config.tool : '';
    this.recovery = tools.find(this.#tool)?.repeatable ? 'restart' : 'fail';
  }

  protected override async *work(context: RequestContext): NodeWork {
    const args = argsOf(context.userMessage, this.node.config.args);
    yield workStep(context, 'tool.call', { tool: this.#tool, args });
    const result = await this.tools.run(this.#tool, args, { signal: context.signal });
    yield workStep(context, 'tool.result', { tool: this.#tool, result });
    return resultParts(result);
  }
}

/** The Message's data, or its `args`; without any, the node's own arguments with the Message's text put in. */
function argsOf({ parts }: Message, own: unknown): JsonObject {
  const data = firstData(parts);
  if (isJsonObject(data)) return isJsonObject(data.args) ? data.args : data;
  return isJsonObject(own) ? withText(own, firstText(parts) ?? '') : {};
}
