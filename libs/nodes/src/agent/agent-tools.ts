import type { ModelTool } from '#libs/models';
import type { JsonObject, JsonValue } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { NodeFailure } from '../node-failure.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import type { ToolOutcome } from './agent-events.js';
import type { LoggedToolCall } from './agent-log.js';
import type { WireNames } from './wire-names.js';

/** Caller of tools, and the signal that ends the calls. */
export interface ToolCaller {
  tenant: string;
  owner: string;
  signal: AbortSignal;
  /** Trace context (`traceparent`, …) to pass on. */
  trace?: Readonly<Record<string, string>>;
}

/** Description of a tool. */
export interface ToolDescription {
  /** `server/tool`, `agent:name`, or the name of a built-in tool. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** True if each call needs approval by a person. */
  readonly needsApproval: boolean;
}

/** Tool that a model may call. */
export interface AgentTool extends ToolDescription {
  /** True if a repeated call does no harm. */
  readonly repeatable: boolean;
  /** @throws the signal's reason, or an internal error */
  invokeTool(args: JsonObject, caller: ToolCaller): Promise<ToolOutcome>;
}

/** Tool that is an agent. It records its calls itself, and a call may end in a question. */
export interface SelfRecordingTool extends ToolDescription {
  /** Agent as the config names it, without secrets. */
  readonly reference: string;
  /** Returns why a call is not made, for the model to read. */
  explainCallRefusal(call: LoggedToolCall): string | undefined;
  /**
   * True if an interrupted call can be resumed: its Task is followed, or the repeated Message creates no second Task.
   */
  resumesCall(call: LoggedToolCall): boolean;
  /**
   * Makes or resumes a call. The last event is the result, or a question after which the Task waits.
   * @throws the signal's reason, or an internal error
   */
  runCall(call: LoggedToolCall): AsyncGenerator<NodeEvent, void, void>;
}

export type OfferedTool = AgentTool | SelfRecordingTool;

/** Finds tools for agents. */
export abstract class AgentTools {
  /** Names of the built-in tools. */
  abstract readonly builtIn: readonly string[];

  /**
   * Returns the tools that patterns match: built-in ones by name, others as `server/glob`.
   * @throws NodeFailure if a server's tools cannot be listed
   */
  abstract findTools(patterns: readonly string[], caller: ToolCaller): Promise<AgentTool[]>;
}

/** Tools of this process. */
export class BuiltInTools extends AgentTools {
  constructor(private readonly registry: ToolRegistry) {
    super();
  }

  override get builtIn(): readonly string[] {
    return this.registry.names;
  }

  override async findTools(patterns: readonly string[]): Promise<AgentTool[]> {
    return [...new Set(patterns)].flatMap((name) => {
      const tool = this.registry.findTool(name);
      if (!tool) return [];
      const { description, parameters: inputSchema, repeatable } = tool;
      const invokeTool: AgentTool['invokeTool'] = (args, { signal }) => this.runBuiltIn(name, args, signal);
      return [{ name, description, inputSchema, repeatable, needsApproval: false, invokeTool }];
    });
  }

  private async runBuiltIn(name: string, args: JsonObject, signal: AbortSignal): Promise<ToolOutcome> {
    try {
      return truncateResult(await this.registry.runToolByName(name, args, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NodeFailure) return { error: error.message };
      throw error;
    }
  }
}

/** Describes tools for a model. */
export function modelTools(tools: readonly ToolDescription[], wire: WireNames): ModelTool[] {
  return tools.map(({ name, description, inputSchema }) => ({ name: wire.toWireName(name), description, inputSchema }));
}

/** Maximum size of a result in bytes. */
const MOST_BYTES = 256 * 1024;

/** Truncates a result that is too large; it then is a text. */
export function truncateResult(result: JsonValue): ToolOutcome {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  if (text.length * 3 <= MOST_BYTES || Buffer.byteLength(text) <= MOST_BYTES) return { result };
  const bytes = Buffer.from(text);
  let end = MOST_BYTES;
  while (isWithinCharacter(bytes, end)) end -= 1;
  return { result: bytes.toString('utf8', 0, end), truncated: true };
}

/** True if the byte continues a UTF-8 character. */
function isWithinCharacter(bytes: Buffer, index: number): boolean {
  return ((bytes[index] ?? 0) & 0xc0) === 0x80;
}
