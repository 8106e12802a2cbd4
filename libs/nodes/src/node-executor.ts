import {
  type AgentDeclaration,
  AgentExecutor,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  type RequestContext,
} from '#libs/executor';
import {
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
import { ConfigProblems, configSchema, DATA, PROMPT } from './node-config.js';

/** Failure of a node's work. Callers see the text: it may quote a remote agent or a config, but no internals. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  /** Failure note for the node's run; absent for a plain failure. */
  readonly note: FailureNote | undefined;

  constructor(message: string, options: { cause?: unknown; note?: FailureNote | undefined } = {}) {
    super(message, { cause: options.cause });
    this.note = options.note;
  }
}

/** Event that a node yields for its own Task. */
export type NodeEvent = (ReturnType<typeof statusUpdate> & { parks?: Date }) | ReturnType<typeof artifactUpdate>;

/** Events of a node's work. It returns the node's output, or `undefined` if it has ended the turn itself. */
export type NodeWork = AsyncGenerator<NodeEvent, Part[] | undefined, void>;

/**
 * Runs a node's work and ends its Task: WORKING, one Artifact named by the node, and COMPLETED with the same Parts; or
 * FAILED with `Error: …`. After a crash the work runs again and recorded events are skipped, so a subclass that
 * restarts must yield the same events each time.
 */
export abstract class NodeExecutor extends AgentExecutor {
  constructor(protected readonly node: NodeSpec) {
    super();
  }

  override execute(context: RequestContext): AsyncIterable<NodeEvent> {
    return context.recovered === 0 ? this.#runEvents(context) : this.#runRemaining(context);
  }

  /** @throws NodeFailure if the caller may know the reason */
  protected abstract performWork(context: RequestContext): NodeWork;

  async *#runRemaining(context: RequestContext): AsyncIterable<NodeEvent> {
    let position = 0;
    for await (const event of this.#runEvents(context)) {
      position += 1;
      if (position > context.recovered) yield event;
    }
  }

  async *#runEvents(context: RequestContext): AsyncIterable<NodeEvent> {
    if (context.task === null) yield statusUpdate(context, 'TASK_STATE_WORKING');
    try {
      const parts = yield* this.performWork(context);
      if (parts === undefined) return;
      yield artifactUpdate(context, { artifactId: this.node.id, name: this.node.id, parts }, { lastChunk: true });
      yield statusUpdate(context, 'TASK_STATE_COMPLETED', parts);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      yield failedUpdate(context, `Error: ${error.message}`, error.note);
    }
  }
}

/** Returns an event for a step of a node's work, as run events have it (`model.request`, `tool.call`, …). */
export function workStep(context: RequestContext, type: string, payload: JsonObject): NodeEvent {
  return statusUpdate(context, 'TASK_STATE_WORKING', undefined, runEventMetadata({ type, payload }));
}

/** Media types of a node that passes on its input unchanged. */
export const ANYTHING: readonly string[] = ['text/plain', 'application/json', '*/*'];

/**
 * Converts the result of a node's work to Parts: a text stays text, an object or list is data, any other value its
 * string form.
 */
export function resultParts(result: JsonValue): Part[] {
  if (typeof result === 'string') return [textPart(result)];
  if (isJsonObject(result) || Array.isArray(result)) return [dataPart(result)];
  return [textPart(String(result))];
}

/** Returns the Parts with a media type for each text. */
export function typedParts(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.text === undefined || part.mediaType ? part : { ...part, mediaType: 'text/plain' }));
}

/** `input`: outputs the run's input, which is its Message. */
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

/** `output`: outputs the run's result, which is its Message. */
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

/** Answers with the Parts of its Message, including files. */
class EchoingExecutor extends NodeExecutor {
  override readonly declares: AgentDeclaration = { inputModes: [...ANYTHING], outputModes: [...ANYTHING] };
  override readonly recovery = 'restart';
  override readonly isPure = true;

  // oxlint-disable-next-line require-yield -- it has no events of its own
  protected override async *performWork({ userMessage }: RequestContext): NodeWork {
    return typedParts(userMessage.parts);
  }
}
