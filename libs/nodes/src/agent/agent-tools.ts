import type { ModelTool } from '#libs/models';
import type { JsonObject, JsonValue } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { NodeFailure } from '../node-failure.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import type { ToolOutcome } from './agent-events.js';
import type { LoggedCall } from './agent-log.js';
import type { WireNames } from './wire-names.js';

/** For whom tools are called, and how long that is wanted. */
export interface ToolCaller {
  tenant: string;
  owner: string;
  signal: AbortSignal;
  /** `traceparent` and the like, for whom the call goes on to. */
  trace?: Readonly<Record<string, string>>;
}

/** What a model and its loop know of every tool. */
export interface ToolDescription {
  /** `server/tool`, `agent:name`, or the name of a built-in one. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly inputSchema: JsonObject;
  /** Whether somebody is asked before each call. */
  readonly needsApproval: boolean;
}

/** A tool that a model may use. */
export interface AgentTool extends ToolDescription {
  /** Whether it does no harm to call it twice. */
  readonly repeatable: boolean;
  /** @throws what the signal was aborted with, and nothing that a caller may know */
  call(args: JsonObject, caller: ToolCaller): Promise<ToolOutcome>;
}

/** A tool that is an agent. It records its calls itself, and a call may end in a question. */
export interface SelfRecordingTool extends ToolDescription {
  /** The agent as the config names it, without secrets. */
  readonly reference: string;
  /** Returns why a call is not made, for the model to read. */
  refusal(call: LoggedCall): string | undefined;
  /** True if a call that was cut off is resumed: its Task is followed, or the same Message makes no second Task. */
  resumes(call: LoggedCall): boolean;
  /**
   * Makes a call, or resumes it. The last event is the result, or a question: the Task then waits.
   * @throws what the signal was aborted with, and nothing that a caller may know
   */
  steps(call: LoggedCall): AsyncGenerator<NodeEvent, void, void>;
}

export type OfferedTool = AgentTool | SelfRecordingTool;

/** Where agents find tools. */
export abstract class AgentTools {
  /** The names of tools that are named without a server. */
  abstract readonly builtIn: readonly string[];

  /**
   * The tools that patterns name: built-in ones by name, others as `server/glob`.
   * @throws NodeFailure where one cannot be looked up
   */
  abstract find(patterns: readonly string[], caller: ToolCaller): Promise<AgentTool[]>;
}

/** The tools of this process. */
export class BuiltInTools extends AgentTools {
  constructor(private readonly registry: ToolRegistry) {
    super();
  }

  override get builtIn(): readonly string[] {
    return this.registry.names;
  }

  override async find(patterns: readonly string[]): Promise<AgentTool[]> {
    return [...new Set(patterns)].flatMap((name) => {
      const tool = this.registry.find(name);
      if (!tool) return [];
      const { description, parameters: inputSchema, repeatable } = tool;
      const call: AgentTool['call'] = (args, { signal }) => this.run(name, args, signal);
      return [{ name, description, inputSchema, repeatable, needsApproval: false, call }];
    });
  }

  private async run(name: string, args: JsonObject, signal: AbortSignal): Promise<ToolOutcome> {
    try {
      return capped(await this.registry.run(name, args, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NodeFailure) return { error: error.message };
      throw error;
    }
  }
}

/** What a model is told of tools. */
export function modelTools(tools: readonly ToolDescription[], wire: WireNames): ModelTool[] {
  return tools.map(({ name, description, inputSchema }) => ({ name: wire.of(name), description, inputSchema }));
}

/** Bytes of a result that are kept. */
const MOST_BYTES = 256 * 1024;

/** A result that is too large is cut, and then a text. */
export function capped(result: JsonValue): ToolOutcome {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  if (text.length * 3 <= MOST_BYTES || Buffer.byteLength(text) <= MOST_BYTES) return { result };
  const bytes = Buffer.from(text);
  let end = MOST_BYTES;
  while (isWithinCharacter(bytes, end)) end -= 1;
  return { result: bytes.toString('utf8', 0, end), truncated: true };
}

/** True if the byte continues a character of UTF-8. */
function isWithinCharacter(bytes: Buffer, index: number): boolean {
  return ((bytes[index] ?? 0) & 0xc0) === 0x80;
}
