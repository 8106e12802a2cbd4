import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import type { McpTools } from '#libs/mcp-client';
import { hasUserinfo, isJsonObject, NO_USERINFO } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { ConfigProblems } from './config-problems.js';
import { configSchema } from './config-schema.js';
import { McpToolExecutor } from './mcp-tool-executor.js';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { resultParts } from './result-parts.js';
import { callArgs, shownArgs } from './tool-args.js';
import type { ToolRegistry } from './tools/tool-registry.js';

/** Pattern of a server and one of its tools. */
const MCP_TOOL = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}/[A-Za-z0-9_./-]{1,128}$';

/** `tool`: runs a registered tool, or one of an MCP server (`server/tool`). */
export class ToolNode implements NodeType {
  readonly name = 'tool';
  readonly configSchema: ConfigSchema;

  constructor(
    private readonly tools: ToolRegistry,
    private readonly renderedText = DEFAULT_CONTENT_LIMITS.renderedText,
    private readonly mcp?: McpTools,
  ) {
    const ofServer = { type: 'string', pattern: MCP_TOOL, description: 'A tool of an MCP server: server/tool.' };
    const registered = { enum: [...tools.names], description: 'The tool.' };
    const members = {
      tool: mcp ? { anyOf: [registered, ofServer], description: 'The tool.' } : registered,
      args: { type: 'object', description: 'Its arguments. Texts may have {{references}}.' },
      prompt: { description: 'The text of the Message, for arguments that name {{text}}. May have {{references}}.' },
    };
    this.configSchema = configSchema(members, ['tool']);
  }

  findProblems(node: NodeSpec): NodeProblem[] {
    const { tool, args } = node.config;
    const problems = new ConfigProblems(node).checkMember('args', 'must be an object', isJsonObject);
    const url = isJsonObject(args) ? args.url : undefined;
    problems.addUnless(typeof url !== 'string' || !hasUserinfo(url), `args.url ${NO_USERINFO}`, 'args.url');
    if (typeof tool !== 'string' || tool === '') return problems.addUnless(false, 'missing tool config', 'tool').found;
    const wrong = tool.includes('/') ? this.mcp?.patternProblem(tool, 'tool') : undefined;
    if (this.mcp && tool.includes('/')) return problems.addUnless(wrong === undefined, `tool ${wrong}`, 'tool').found;
    const known = this.tools.names.join(', ');
    return problems.addUnless(
      this.tools.findTool(tool) !== undefined,
      `unknown tool "${tool}" (known: ${known})`,
      'tool',
    ).found;
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    const { tool } = node.config;
    if (this.mcp && typeof tool === 'string' && tool.includes('/')) {
      return new McpToolExecutor(node, tool, this.mcp, this.renderedText);
    }
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
    this.recovery = tools.findTool(this.#tool)?.repeatable ? 'restart' : 'fail';
  }

  protected override async *performWork(context: RequestContext): NodeWork {
    const args = callArgs(this.node, context, this.renderedText);
    yield workStep(context, 'tool.call', { tool: this.#tool, args: shownArgs(args) });
    const result = await this.tools.runToolByName(this.#tool, args, { signal: context.signal });
    yield workStep(context, 'tool.result', { tool: this.#tool, result });
    return resultParts(result);
  }
}
