import { createHash } from 'node:crypto';
import { AGENT_TOOL, type CallBudgets, type ChainLink, type RequestContext } from '#libs/agents';
import type { AgentReferences, AgentTalks, CalledAgent, ProcessCalls, ProcessServices } from '#libs/durable';
import { InputSchema } from '#libs/expressions';
import { McpServerError, type McpTool, type McpTools } from '#libs/mcp-client';
import type { ModelTool } from '#libs/models';
import type { JsonObject, JsonValue } from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';
import { type NodeEvent, NodeFailure } from '../node-executor.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import type { ToolOutcome } from './agent-events.js';
import type { AgentLog, LoggedToolCall } from './agent-log.js';
import type { AgentToolConfig } from './agent-tool-config.js';

/** Maximum number of characters of a tool name for a model. */
const LONGEST = 64;
/** Number of characters of the digest that makes a name unique. */
const DIGEST = 8;
/**
 * Maximum number of rounds of `disambiguateNames`. Each round may append a digest to a name, and a name has room for
 * only so many digests.
 */
const ROUNDS = Math.ceil(LONGEST / (DIGEST + 1));

/**
 * Maps the tools of a turn to the names that a model is sent (wire names): `server__tool` or `agent__name`, with
 * letters, digits, `_` and `-`, at most 64 characters.
 * - A name that already has this form is unchanged.
 * - A name that is too long, or that several tools would share, ends in a digest of the tool's name.
 * - The wire names depend only on the set of tools, and not on their order or the process.
 */
export class WireNames {
  private readonly names: ReadonlyMap<string, string>;

  constructor(tools: readonly string[]) {
    this.names = disambiguateNames(new Map(tools.map((tool) => [tool, sanitizeToolName(tool)])));
  }

  /** Returns the wire name of a tool, also of a tool that the turn does not have. */
  toWireName(tool: string): string {
    return this.names.get(tool) ?? sanitizeToolName(tool);
  }

  /**
   * Returns the tool that a model means by a name: the tool with this wire name. If no tool has this wire name, returns
   * the tool whose own name it is. Returns `undefined` if there is no such tool, or if several tools have this wire
   * name.
   */
  findByWireName(name: string): string | undefined {
    const meant = [...this.names].flatMap(([tool, its]) => (its === name ? [tool] : []));
    if (meant.length > 0) return meant.length === 1 ? meant[0] : undefined;
    return this.names.has(name) && sanitizeToolName(name) !== name ? name : undefined;
  }
}

function sanitizeToolName(tool: string): string {
  const separated = tool.startsWith(AGENT_TOOL) ? tool.replace(':', '__') : tool.replace('/', '__');
  const name = separated.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return name.length <= LONGEST ? name : withDigest(name, tool);
}

/**
 * Makes equal wire names different by appending digests of the tools' names. Repeats this while names are equal, at
 * most ROUNDS times, because a name with a digest may equal another name.
 */
function disambiguateNames(names: Map<string, string>): Map<string, string> {
  for (let round = 0; round < ROUNDS && new Set(names.values()).size < names.size; round += 1) {
    const counts = Map.groupBy(names.values(), (name) => name);
    for (const [tool, name] of names) if (counts.get(name)!.length > 1) names.set(tool, withDigest(name, tool));
  }
  return names;
}

function withDigest(name: string, tool: string): string {
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, DIGEST);
  return `${name.slice(0, LONGEST - DIGEST - 1)}_${digest}`;
}

/** Caller of tools, and the signal that cancels the calls. */
export interface ToolCaller {
  tenant: string;
  owner: string;
  signal: AbortSignal;
  /** Trace context (`traceparent`, …) to pass on to the tool; absent if the call is not traced. */
  trace?: Readonly<Record<string, string>>;
}

/** Returns the caller on whose behalf the tools of a turn are called. */
export function callerOf({ call, signal }: RequestContext): ToolCaller {
  return { ...call.scope, signal };
}

/** Description of a tool for a model. */
export interface ToolDescription {
  /** `server/tool`, `agent:name`, or the name of a built-in tool. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** True if a person must approve each call. */
  readonly needsApproval: boolean;
}

/** Built-in tool, or tool of an MCP server, that a model may call. */
export interface AgentTool extends ToolDescription {
  /** True if a repeated call does no harm, so that an interrupted call is repeated without a question. */
  readonly repeatable: boolean;
  /**
   * Calls the tool. A failure of the tool is returned as `error`.
   * @throws the reason of the signal, or an internal error
   */
  invokeTool(args: JsonObject, caller: ToolCaller): Promise<ToolOutcome>;
}

/**
 * Tool that lets a model call an agent. Its calls record their own events, and a call may end in a question to the
 * caller of the node.
 */
export interface SelfRecordingTool extends ToolDescription {
  /** Agent as the config names it, with secrets redacted. */
  readonly reference: string;
  /** Returns the reason why a call is not made, as text for the model; `undefined` if the call is allowed. */
  explainCallRefusal(call: LoggedToolCall): string | undefined;
  /**
   * True if an interrupted call can be resumed without a question: its Task is followed, or the same Message is sent
   * again and creates no second Task.
   */
  resumesCall(call: LoggedToolCall): boolean;
  /**
   * Makes a call, or resumes it after an interruption. The last event is the result of the call, or a question for
   * whose answer the Task waits.
   * @throws the reason of the signal, or an internal error
   */
  runCall(call: LoggedToolCall): AsyncGenerator<NodeEvent, void, void>;
}

export type OfferedTool = AgentTool | SelfRecordingTool;

/** Finds the tools that an `agent` node may use. */
export abstract class AgentTools {
  /** Names of the built-in tools. */
  abstract readonly builtIn: readonly string[];

  /**
   * Returns the tools that patterns match: built-in tools by name, tools of MCP servers by `server/glob`.
   * @throws NodeFailure if the tools of a server cannot be listed
   */
  abstract findTools(patterns: readonly string[], caller: ToolCaller): Promise<AgentTool[]>;
}

/** Finds the built-in and plugin tools of this process. */
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

/** Describes tools in the form for a model, under their wire names. */
export function modelTools(tools: readonly ToolDescription[], wire: WireNames): ModelTool[] {
  return tools.map(({ name, description, inputSchema }) => ({ name: wire.toWireName(name), description, inputSchema }));
}

/** Maximum size of a tool call's result, in bytes; longer results are truncated. */
const MOST_BYTES = 256 * 1024;

/** Truncates a result of more than 256 KiB. A truncated result is a text. */
export function truncateResult(result: JsonValue): ToolOutcome {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  if (text.length * 3 <= MOST_BYTES || Buffer.byteLength(text) <= MOST_BYTES) return { result };
  const bytes = Buffer.from(text);
  let end = MOST_BYTES;
  while (isWithinCharacter(bytes, end)) end -= 1;
  return { result: bytes.toString('utf8', 0, end), truncated: true };
}

/** True if the byte at an index continues a UTF-8 character. */
function isWithinCharacter(bytes: Buffer, index: number): boolean {
  return ((bytes[index] ?? 0) & 0xc0) === 0x80;
}

/**
 * Returns the first fault of the arguments for a tool; `undefined` if they conform to the schema. An invalid schema
 * accepts all arguments.
 */
export function argumentFault(schema: JsonObject, args: JsonObject): string | undefined {
  const [found] = InputSchema.ifValid(schema)?.faults(args) ?? [];
  return found && `arguments${found.path} ${found.detail}`;
}

/** Finds the tools of this process and the tools of MCP servers. */
export class ToolsWithServers extends AgentTools {
  constructor(
    private readonly own: AgentTools,
    private readonly mcp: McpTools,
  ) {
    super();
  }

  override get builtIn(): readonly string[] {
    return this.own.builtIn;
  }

  override async findTools(patterns: readonly string[], caller: ToolCaller): Promise<AgentTool[]> {
    const own = await this.own.findTools(
      patterns.filter((it) => !it.includes('/')),
      caller,
    );
    const globs = patterns.filter((it) => it.includes('/'));
    return globs.length === 0 ? own : [...own, ...(await this.findServerTools(globs, caller))];
  }

  private async findServerTools(globs: readonly string[], caller: ToolCaller): Promise<AgentTool[]> {
    try {
      return (await this.mcp.findMcpTools(globs, caller)).map((tool) => this.toAgentTool(tool));
    } catch (error) {
      throw error instanceof McpServerError ? new NodeFailure(error.message, { cause: error }) : error;
    }
  }

  private toAgentTool({ name, description, inputSchema, readOnly, idempotent, needsApproval }: McpTool): AgentTool {
    const callOnServer: AgentTool['invokeTool'] = (args, caller) => this.mcp.callMcpTool(name, args, caller);
    return {
      name,
      description,
      inputSchema,
      repeatable: readOnly || idempotent,
      needsApproval,
      invokeTool: callOnServer,
    };
  }
}

/** Services for calling agents as tools. */
export interface AgentToolServices extends ProcessServices {
  tasks: ProcessServices['tasks'] & Pick<TaskStore, 'readEvents'>;
  references: Pick<AgentReferences, 'callTarget' | 'findServedAgent'>;
  /** Budgets of calls; absent: calls are not limited. */
  budgets?: Pick<CallBudgets, 'spendCall'>;
  /** Conversations between agents; absent: agents with `talk` are not offered. */
  talks?: AgentTalks;
}

/** Execution of an `agent` node, as its agent tools see it. */
export interface CallingExecution {
  context: RequestContext;
  /** Chain of calls that led to the Task of the node. */
  links: readonly ChainLink[];
  log: AgentLog;
}

/** Services that an agent tool needs to call its agent within one execution of the `agent` node. */
export interface AgentToolCalls {
  readonly services: AgentToolServices;
  readonly execution: CallingExecution;
  readonly calls: ProcessCalls;
  /** Returns the agent to call. The call has the reference `tool#<id>`, with the id of the tool call. */
  resolveCalledAgent(config: AgentToolConfig, id: string): CalledAgent;
  /**
   * Charges one call to the budget of the root Task, which began the chain of calls.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  spendCall(): Promise<void>;
}
