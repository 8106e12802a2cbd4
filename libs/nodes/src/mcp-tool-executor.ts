import type { NodeSpec, RequestContext } from '#libs/executor';
import { type McpCallOptions, McpServerError, type McpToolResult, type McpTools } from '#libs/mcp-client';
import { type JsonObject, runEventNote } from '#libs/protocol';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import { resultParts } from './result-parts.js';
import { callArgs, shownArgs } from './tool-args.js';

/**
 * Calls one tool of an MCP server. A recorded result is not requested again. An interrupted call is repeated only if
 * the server declares the tool read-only or idempotent.
 */
export class McpToolExecutor extends NodeExecutor {
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
    // Once this is durable, another execution does not repeat the call blindly.
    await context.flush();
    // The span of the node's only call has an empty id.
    const trace = context.trace?.headersBelow('tool', '');
    const outcome = await this.mcp.callMcpTool(this.tool, args, { ...options, ...(trace && { trace }) });
    if ('result' in outcome) return outcome;
    const { errorForModel: _unread, ...failed } = outcome;
    return failed;
  }

  /** Returns what an earlier execution of this turn recorded of the call. */
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
