import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/agents';
import { isFillingOf } from '#libs/expressions';
import { type McpCallOptions, McpServerError, type McpToolResult, type McpTools } from '#libs/mcp-client';
import {
  ContentTooLarge,
  firstData,
  firstText,
  hasUserinfo,
  isJsonObject,
  isRenderingOf,
  type JsonObject,
  type JsonValue,
  type Message,
  NO_USERINFO,
  runEventNote,
  TextBudget,
  withoutUserinfo,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { filledIn, withText } from './config-texts.js';
import { ConfigProblems, configSchema } from './node-config.js';
import { NodeExecutor, NodeFailure, type NodeWork, resultParts, workStep } from './node-executor.js';
import type { ToolRegistry } from './tools/tool-registry.js';

/** Rules for the strings that the author of a workflow wrote in the `args` of a `tool` node. */
export interface Author {
  /**
   * Returns the value of a string of the author for which the Message has no permitted value: the string with its
   * references filled in.
   */
  fillText(text: string): JsonValue;
  /** True if a Message may set this value in place of the author's string. */
  allowsValue(text: string, given: JsonValue): boolean;
}

/**
 * Returns the arguments for the tool call of a node.
 * @throws NodeFailure if the texts exceed the limit, or an expression fails
 */
function callArgs(node: NodeSpec, { userMessage }: RequestContext, renderedText: number): JsonObject {
  const budget = new TextBudget(renderedText);
  const author: Author =
    node.of?.language === 2
      ? { fillText: (text) => filledIn(text, node, userMessage, budget), allowsValue: isFillingOf }
      : authorOf(firstText(userMessage.parts) ?? '', budget);
  try {
    return toolArgs(userMessage, node.config.args, author);
  } catch (error) {
    throw error instanceof ContentTooLarge ? new NodeFailure(error.message, { cause: error }) : error;
  }
}

/**
 * Returns the arguments for a tool call: the data of the Message, or the member `args` of that data, restricted by the
 * arguments in the workflow (`own`).
 * - A value without references in `own` cannot be changed by the Message.
 * - In a string with references, the Message may set only the values of the references.
 * - If the Message has no data, its text replaces `{{text}}`.
 * @throws the error of `author.fillText`
 */
export function toolArgs({ parts }: Message, own: unknown, author = authorOf(firstText(parts) ?? '')): JsonObject {
  const fixed = isJsonObject(own) ? own : {};
  const data = firstData(parts);
  const given = isJsonObject(data) ? (isJsonObject(data.args) ? data.args : data) : {};
  return { ...given, ...fillMembers(fixed, given, author) };
}

/**
 * Returns the rules for strings with `{{references}}` (language 1).
 * @param text value of `{{text}}`
 * @param budget limit of characters; beyond it `fillText` throws ContentTooLarge
 */
function authorOf(text: string, budget = new TextBudget()): Author {
  return {
    fillText: (own) => withText(own, text, budget),
    allowsValue: (own, given) => typeof given === 'string' && isRenderingOf(own, given),
  };
}

/** Returns the arguments in the workflow (`own`), with references filled by the values that the Message gives. */
function fillMembers(own: JsonObject, given: JsonObject, author: Author): JsonObject {
  const members = Object.entries(own).map(([key, value]): [string, JsonValue] => {
    return [key, filledValue(value, Object.hasOwn(given, key) ? given[key] : undefined, author)];
  });
  return Object.fromEntries(members);
}

function filledValue(own: JsonValue, given: JsonValue | undefined, author: Author): JsonValue {
  if (typeof own === 'string')
    return given !== undefined && author.allowsValue(own, given) ? given : author.fillText(own);
  if (Array.isArray(own)) {
    const items = Array.isArray(given) ? given : [];
    return own.map((item, index) => filledValue(item, items[index], author));
  }
  return isJsonObject(own) ? fillMembers(own, isJsonObject(given) ? given : {}, author) : own;
}

/** Returns the arguments in the form that events contain: the password of a URL is removed. */
function shownArgs(args: JsonObject): JsonObject {
  const shown = Object.entries(args).map(([key, value]): [string, JsonValue] => {
    return [key, typeof value === 'string' ? withoutUserinfo(value) : value];
  });
  return Object.fromEntries(shown);
}

/**
 * Executor that calls one tool of an MCP server. After a crash, a recorded result is returned. An interrupted call is
 * repeated only if the server declares the tool read-only or idempotent; otherwise the node fails.
 */
class McpToolExecutor extends NodeExecutor {
  override readonly recovery = 'restart';

  constructor(
    node: NodeSpec,
    private readonly tool: string,
    private readonly mcp: McpTools,
    private readonly renderedText: number,
  ) {
    super(node);
  }

  protected override async *performWork(context: RequestContext): NodeWork {
    const args = callArgs(this.node, context, this.renderedText);
    yield workStep(context, 'tool.call', { tool: this.tool, args: shownArgs(args) });
    const outcome = await this.obtainOutcome(context, args);
    yield workStep(context, 'tool.result', { tool: this.tool, ...outcome });
    if ('error' in outcome) throw new NodeFailure(`tool "${this.tool}": ${outcome.error}`);
    return resultParts(outcome.result);
  }

  private async obtainOutcome(context: RequestContext, args: JsonObject): Promise<McpToolResult> {
    const options: McpCallOptions = { ...context.call.scope, signal: context.signal };
    if (context.recovered > 0) {
      const { called, result } = await this.readRecordedCall(context);
      if (result) return result;
      if (called && !(await this.isRepeatable(options)))
        throw new NodeFailure(`the call of the tool "${this.tool}" was cut off: it is not known whether it was made`);
    }
    // Once `tool.call` is durable, a later execution knows that the call may have been made.
    await context.flush();
    // The only call of the node has an empty id in its trace span.
    const trace = context.trace?.headersBelow('tool', '');
    const outcome = await this.mcp.callMcpTool(this.tool, args, { ...options, ...(trace && { trace }) });
    if ('result' in outcome) return outcome;
    const { errorForModel: _unread, ...failed } = outcome;
    return failed;
  }

  /**
   * Returns what the log has about a call in an earlier execution of this turn. `called` is true if the tool was
   * called; `result` is present if the result was recorded.
   */
  private async readRecordedCall(context: RequestContext): Promise<{ called: boolean; result?: McpToolResult }> {
    const events = (await context.readTaskLog()).slice(-context.recovered);
    const notes = events.flatMap((it) => ('statusUpdate' in it && runEventNote(it.statusUpdate.metadata)) || []);
    const { tool: _tool, ...result } = notes.find(({ type }) => type === 'tool.result')?.payload ?? {};
    const called = notes.some(({ type }) => type === 'tool.call');
    return { called, ...(Object.keys(result).length > 0 && { result: result as McpToolResult }) };
  }

  private async isRepeatable({ tenant, signal }: McpCallOptions): Promise<boolean> {
    try {
      const [found] = await this.mcp.findMcpTools([this.tool], { tenant, signal });
      return found !== undefined && (found.readOnly || found.idempotent);
    } catch (error) {
      if (error instanceof McpServerError) return false;
      throw error;
    }
  }
}

/** Pattern of the name of an MCP tool, `server/tool`. */
const MCP_TOOL = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}/[A-Za-z0-9_./-]{1,128}$';

/** Node type `tool`: runs a built-in or plugin tool, or a tool of an MCP server (`server/tool`). */
export class ToolNode implements NodeType {
  readonly name = 'tool';
  readonly configSchema: ConfigSchema;

  constructor(
    private readonly tools: ToolRegistry,
    private readonly renderedText = DEFAULT_CONTENT_LIMITS.renderedText,
    private readonly mcp?: McpTools,
  ) {
    const ofServer = { type: 'string', pattern: MCP_TOOL, description: 'Tool of an MCP server: server/tool.' };
    const registered = { enum: [...tools.names], description: 'The tool.' };
    const members = {
      tool: mcp ? { anyOf: [registered, ofServer], description: 'The tool.' } : registered,
      args: { type: 'object', description: 'Arguments of the tool. Strings may contain {{references}}.' },
      prompt: { description: 'Text of the Message, for arguments that name {{text}}. May contain {{references}}.' },
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
