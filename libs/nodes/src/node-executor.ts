import {
  type AgentDeclaration,
  AgentExecutor,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  type RequestContext,
} from '#libs/agents';
import {
  type Artifact,
  artifactUpdate,
  dataPart,
  failedUpdate,
  type FailureNote,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part,
  runEventMetadata,
  statusUpdate,
  textPart,
} from '#libs/protocol';
import type { PromptNote } from '#libs/tasks';
import { ConfigProblems, configSchema, DATA, PROMPT } from './node-config.js';

/**
 * Failure of a node that ends its Task as FAILED. Callers see the message: it may quote a remote agent or a config, but
 * no internals.
 */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  /**
   * Kind of the failure, as in `retry.on` of a workflow, and the pause requested before a retry; `undefined` for a
   * failure without a kind.
   */
  readonly note: FailureNote | undefined;

  constructor(message: string, options: { cause?: unknown; note?: FailureNote | undefined } = {}) {
    super(message, { cause: options.cause });
    this.note = options.note;
  }
}

/**
 * Event that the executor of a node yields for its Task. `parks` is the time until which no replica executes the Task.
 * `prompt` is the content of a model call, for the stored prompts.
 */
export type NodeEvent =
  | (ReturnType<typeof statusUpdate> & { parks?: Date; prompt?: PromptNote })
  | ReturnType<typeof artifactUpdate>;

/** Output of a node: its Parts, and optional members of the Artifact that will contain them. */
export interface NodeOutput extends Pick<Artifact, 'description' | 'metadata' | 'extensions'> {
  parts: Part[];
}

/**
 * Generator of the events of a node. It returns the output of the node, or `undefined` if its last event has already
 * ended the turn.
 */
export type NodeWork = AsyncGenerator<NodeEvent, Part[] | NodeOutput | undefined, void>;

/**
 * Executor that performs the work of a node and ends its Task.
 * - It yields WORKING, the events of `performWork`, one Artifact with the node's name, and COMPLETED with the same
 *   Parts. A NodeFailure ends the Task as FAILED with `Error: …`.
 * - After a crash, the work runs again from its beginning, and events that the log already has are skipped. A subclass
 *   with `recovery: restart` must therefore yield the same events each time, unless it sets `continuesFromLog`.
 */
export abstract class NodeExecutor extends AgentExecutor {
  /**
   * Behavior of `performWork` after a crash. True: it reads the recorded events from the Task's log, continues after
   * them and yields only new events. False: it yields all events again from the first one, and `execute` drops those
   * that the log already has.
   */
  protected readonly continuesFromLog: boolean = false;

  constructor(protected readonly node: NodeSpec) {
    super();
  }

  override execute(context: RequestContext): AsyncIterable<NodeEvent> {
    return context.recovered === 0 || this.continuesFromLog ? this.#runEvents(context) : this.#runRemaining(context);
  }

  /** Performs the work of the node. @throws NodeFailure for a failure whose reason the caller may see */
  protected abstract performWork(context: RequestContext): NodeWork;

  async *#runRemaining(context: RequestContext): AsyncIterable<NodeEvent> {
    let position = 0;
    for await (const event of this.#runEvents(context)) {
      position += 1;
      if (position > context.recovered) yield event;
    }
  }

  async *#runEvents(context: RequestContext): AsyncIterable<NodeEvent> {
    const isBegun = this.continuesFromLog && context.recovered > 0;
    if (context.task === null && !isBegun) yield statusUpdate(context, 'TASK_STATE_WORKING');
    try {
      const output = yield* this.performWork(context);
      if (output === undefined) return;
      const { parts, ...others } = Array.isArray(output) ? { parts: output } : output;
      const { id } = this.node;
      yield artifactUpdate(context, { artifactId: id, name: id, ...others, parts }, { lastChunk: true });
      yield statusUpdate(context, 'TASK_STATE_COMPLETED', parts);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      yield failedUpdate(context, `Error: ${error.message}`, error.note);
    }
  }
}

/** Returns a status event with a run event (`model.request`, `tool.call`, …) that describes a step of a node's work. */
export function workStep(context: RequestContext, type: string, payload: JsonObject): NodeEvent {
  return statusUpdate(context, 'TASK_STATE_WORKING', undefined, runEventMetadata({ type, payload }));
}

/** Media types of a node that passes its input on unchanged. */
export const ANYTHING: readonly string[] = ['text/plain', 'application/json', '*/*'];

/**
 * Converts a result to Parts: a string becomes text, an object or list becomes data, any other value becomes its string
 * form.
 */
export function resultParts(result: JsonValue): Part[] {
  if (typeof result === 'string') return [textPart(result)];
  if (isJsonObject(result) || Array.isArray(result)) return [dataPart(result)];
  return [textPart(String(result))];
}

/** Returns the Parts. Each text Part without a media type gets `text/plain`. */
export function typedParts(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.text === undefined || part.mediaType ? part : { ...part, mediaType: 'text/plain' }));
}

/** Node type `input`: outputs its Message, which is an input of the run. */
export class InputNode implements NodeType {
  readonly name = 'input';
  readonly configSchema = configSchema({
    schema: { type: 'object', description: 'JSON Schema (draft 7) of the input.' },
    default: { description: 'Default value of the input; it must match the schema.' },
    optional: {
      type: 'boolean',
      description: 'True if a run may start without this input; the node then answers an empty text.',
    },
  });

  findProblems(): NodeProblem[] {
    return [];
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new EchoingExecutor(node);
  }
}

/** Node type `output`: outputs its Message, which is a result of the run. */
export class OutputNode implements NodeType {
  readonly name = 'output';
  readonly configSchema = configSchema({
    prompt: PROMPT,
    data: DATA,
    schema: { type: 'object', description: 'JSON Schema (draft 7) of the result.' },
  });

  findProblems(node: NodeSpec): NodeProblem[] {
    return new ConfigProblems(node).checkStrings('prompt').checkMember('schema', 'must be an object', isJsonObject)
      .found;
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new EchoingExecutor(node);
  }
}

/** Executor that answers with the Parts of its Message, including files. */
class EchoingExecutor extends NodeExecutor {
  override readonly declares: AgentDeclaration = { inputModes: [...ANYTHING], outputModes: [...ANYTHING] };
  override readonly recovery = 'restart';
  override readonly isPure = true;

  // oxlint-disable-next-line require-yield -- it has no events of its own
  protected override async *performWork({ userMessage }: RequestContext): NodeWork {
    return typedParts(userMessage.parts);
  }
}
