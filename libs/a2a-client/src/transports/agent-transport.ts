import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import { type AnswerPlace, type TraceContext, type TraceHeaders, traceHeaders } from '#libs/service';
import type { AgentCallOptions, CallTimeouts, TaskWebhook } from '../agent-client.js';
import type { RequestAuth } from '../request-signers.js';

/** Options of a call, with the members that its CallAttempt adds for the transport. */
export interface TransportOptions extends AgentCallOptions {
  /** Signal that ends the attempt: the transport stops and closes its connection. */
  signal: AbortSignal;
  /** Called for every received piece, even a heartbeat. */
  alive: () => void;
  /** Called for each item of a stream that is skipped because it is not an item of A2A. */
  onSkipped?: () => void;
  /**
   * Account of the answer's memory, which counts toward the limit for all answers (ReceivedAnswers); absent: the memory
   * of this answer is not limited.
   */
  place?: AnswerPlace;
  /** Headers and query parameters that authenticate the call; absent if the call names no credential. */
  auth?: RequestAuth;
}

/** Ids of a push config and its Task at the agent. */
export type PushConfigName = Pick<TaskWebhook, 'id' | 'taskId'>;

/** Transport to one agent. Each method is a single exchange: no limits, no retry, no resumption. */
export interface AgentTransport {
  /** True if the agent streams, so that SubscribeToTask may be called. */
  readonly streaming: boolean;
  /** Time limits of this transport, in place of the defaults. */
  readonly timeouts: Partial<CallTimeouts>;
  sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse>;
  /**
   * Sends a Message and returns the agent's first answer: its Task, which may still be active, or a direct Message.
   * Absent if every Message is streamed.
   */
  postMessage?(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse>;
  subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse>;
  getTask(taskId: string, options: TransportOptions): Promise<Task>;
  cancelTask(taskId: string, options: TransportOptions): Promise<Task>;
  /**
   * Creates a push config of a Task, or replaces the push config with the same id. Absent if the agent has no such
   * method.
   */
  createPushConfig?(config: TaskWebhook, options: TransportOptions): Promise<void>;
  /** Deletes a push config of a Task. Absent if the agent has no such method. */
  deletePushConfig?(config: PushConfigName, options: TransportOptions): Promise<void>;
}

/** Returns the headers that identify the caller to an agent; called for each call. */
export type CallCredentials = (options: AgentCallOptions) => Readonly<Record<string, string>> | undefined;

/**
 * Returns the function that provides the headers of calls to an agent; `undefined` for an agent that gets none. The
 * result depends on the URL that the caller named, not on the agent's card.
 */
export type CredentialsOf = (agentUrl: string) => CallCredentials | undefined;

/** Output modes that a request accepts if it names none: texts and JSON. */
const ACCEPTED_OUTPUT_MODES = ['text/plain', 'application/json'];

/**
 * Returns a request with the defaults of its configuration filled in: the accepted output modes, and
 * `returnImmediately` if wanted. Members that the configuration already has are kept.
 * @param returnImmediately requests an answer as soon as the Task exists instead of at the end of the turn
 */
export function completedRequest(request: SendMessageRequest, returnImmediately: boolean): SendMessageRequest {
  const configuration = {
    acceptedOutputModes: ACCEPTED_OUTPUT_MODES,
    ...(returnImmediately && { returnImmediately }),
    ...request.configuration,
  };
  return { ...request, configuration };
}

/**
 * True if a request is to ask for `returnImmediately`: it has a Message for a new Task, and the agent does not
 * stream. Only a Task with a known id can be canceled, or followed after a crash, so the id must arrive early. For an
 * existing Task the id is known.
 */
export function isAnsweredAtOnce(request: SendMessageRequest, streaming: boolean): boolean {
  return !streaming && request.message.taskId === undefined;
}

/** Returns the trace headers of a call; `undefined` for a call that is not traced. */
export function callTraceHeaders({ trace }: { trace?: TraceContext }): TraceHeaders | undefined {
  return trace && traceHeaders(trace);
}

/** Pattern of the extensions that Parley defines. They need no activation, so `extensionsHeader` leaves them out. */
const OWN_EXTENSION = /^urn:parley:/;

/**
 * Returns the `A2A-Extensions` header, which activates the extensions of a Message and of its call at the agent
 * (section 3.2.6); `undefined` if there are none.
 */
export function extensionsHeader(
  { message }: SendMessageRequest,
  { extensions = [] }: Pick<AgentCallOptions, 'extensions'>,
): Record<string, string> | undefined {
  const named = new Set([...(message.extensions ?? []), ...extensions]);
  const sent = [...named].filter((uri) => !OWN_EXTENSION.test(uri) && VISIBLE.test(uri));
  return sent.length === 0 ? undefined : { 'a2a-extensions': sent.join(', ') };
}

/** Pattern of an extension's URI in a header: visible characters without a comma, which separates the URIs. */
const VISIBLE = /^[\x21-\x2b\x2d-\x7e]{1,2048}$/;

/**
 * Returns the `Idempotency-Key` header, which makes a repeated Message count as the same Message; `undefined` without a
 * key.
 */
export function keyHeader({ idempotencyKey }: { idempotencyKey?: string }): Record<string, string> | undefined {
  return idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey };
}

/** Returns the request with the instruction to answer only at the end of the turn. */
export function withBlocking(request: SendMessageRequest): SendMessageRequest {
  return { ...request, configuration: { ...request.configuration, returnImmediately: false } };
}
