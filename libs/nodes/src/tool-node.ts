import type { AgentExecutor, ConfigSchema, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { isFillingOf } from '#libs/expressions';
import {
  ContentTooLarge,
  firstText,
  hasUserinfo,
  isJsonObject,
  type JsonObject,
  type Message,
  NO_USERINFO,
  TextBudget,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { ConfigProblems } from './config-problems.js';
import { configSchema } from './config-schema.js';
import { NodeFailure } from './node-failure.js';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { filledIn } from './own-texts.js';
import { resultParts } from './result-parts.js';
import { type Author, authorOf, shownArgs, toolArgs } from './tool-args.js';
import type { ToolRegistry } from './tools/tool-registry.js';

/** `tool`: runs a registered tool. */
export class ToolNode implements NodeType {
  readonly name = 'tool';
  readonly configSchema: ConfigSchema;

  constructor(
    private readonly tools: ToolRegistry,
    private readonly renderedText = DEFAULT_CONTENT_LIMITS.renderedText,
  ) {
    const members = {
      tool: { enum: [...tools.names], description: 'The tool.' },
      args: { type: 'object', description: 'Its arguments. Texts may have {{references}}.' },
      prompt: { description: 'The text of the Message, for arguments that name {{text}}. May have {{references}}.' },
    };
    this.configSchema = configSchema(members, ['tool']);
  }

  problems(node: NodeSpec): string[] {
    const { tool, args } = node.config;
    const problems = new ConfigProblems(node).check('args', 'must be an object', isJsonObject);
    const url = isJsonObject(args) ? args.url : undefined;
    problems.unless(typeof url !== 'string' || !hasUserinfo(url), `args.url ${NO_USERINFO}`);
    if (typeof tool !== 'string' || tool === '') return problems.unless(false, 'missing tool config').found;
    const known = this.tools.names.join(', ');
    return problems.unless(this.tools.find(tool) !== undefined, `unknown tool "${tool}" (known: ${known})`).found;
  }

  executor(node: NodeSpec): AgentExecutor {
    return new ToolExecutor(node, this.tools, this.renderedText);
  }
}

class ToolExecutor extends NodeExecutor {
  override readonly recovery: 'restart' | 'fail';
  readonly #tool: string;

  constructor(
    node: NodeSpec,
    private readonly tools: ToolRegistry,
    private readonly renderedText: number,
  ) {
    super(node);
    this.#tool = typeof node.config.tool === 'string' ? node.config.tool : '';
    this.recovery = tools.find(this.#tool)?.repeatable ? 'restart' : 'fail';
  }

  protected override async *work(context: RequestContext): NodeWork {
    const args = this.#args(context);
    yield workStep(context, 'tool.call', { tool: this.#tool, args: shownArgs(args) });
    const result = await this.tools.run(this.#tool, args, { signal: context.signal });
    yield workStep(context, 'tool.result', { tool: this.#tool, result });
    return resultParts(result);
  }

  #args({ userMessage }: RequestContext): JsonObject {
    try {
      return toolArgs(userMessage, this.node.config.args, this.#author(userMessage));
    } catch (error) {
      throw error instanceof ContentTooLarge ? new NodeFailure(error.message, { cause: error }) : error;
    }
  }

  #author(message: Message): Author {
    const budget = new TextBudget(this.renderedText);
    if (this.node.of?.language !== 2) return authorOf(firstText(message.parts) ?? '', budget);
    return { fill: (text) => filledIn(text, this.node, message, budget), allows: isFillingOf };
  }
}
