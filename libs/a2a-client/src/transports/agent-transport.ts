import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import { type AnswerPlace, type TraceContext, type TraceHeaders, traceHeaders } from '#libs/service';
import type { AgentCallOptions, CallTimeouts } from '../agent-client.js';
import type { RequestAuth } from '../request-signers.js';

/** Options of a call, with the members that tie the transport to a CallAttempt. */
export interface TransportOptions extends AgentCallOptions {
  /** Signal that ends the attempt: the transport stops and closes its connection. */
  signal: AbortSignal;
  /** Called for every received piece, even a heartbeat. */
  alive: () => void;
  /** Called for each item of a stream that is not one of A2A, and is skipped. */
  onSkipped?: () => void;
  /** Account of the answer's bytes in the memory for answers (ReceivedAnswers). */
  place?: AnswerPlace;
  /** Proof that the call carries if it names a credential. */
  auth?: RequestAuth;
}

/** Transport to one agent. Each method is a single exchange: no limits, no retry, no resumption. */
export interface AgentTransport {
  /** True if SubscribeToTask may be called. */
  readonly streaming: boolean;
  /** Limits that replace the defaults for this transport. */
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
}

/** Returns the headers that identify the caller to an agent; called for each call. */
export type CallCredentials = (options: AgentCallOptions) => Readonly<Record<string, string>> | undefined;

/**
 * Returns the function that provides the credentials of calls to an agent. Only the URL that the caller named decides,
 * not the card; `undefined` for an agent that gets no credentials.
 */
export type CredentialsOf = (agentUrl: string) => CallCredentials | undefined;

/** Default accepted output modes: texts and JSON. */
const ACCEPTED_OUTPUT_MODES = ['text/plain', 'application/json'];

/**
 * Adds the defaults of every transport to a request's configuration; members that the request already has stay.
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
 * True if a request asks for `returnImmediately`: a new Message to an agent that does not stream. Only a Task with a
 * known id can be canceled, or followed after a crash. The id of a follow-up's Task is already known.
 */
export function isAnsweredAtOnce(request: SendMessageRequest, streaming: boolean): boolean {
  return !streaming && request.message.taskId === undefined;
}

/** Returns the trace headers of a call. */
export function callTraceHeaders({ trace }: { trace?: TraceContext }): TraceHeaders | undefined {
  return trace && traceHeaders(trace);
}

/** Extensions of Parley, which need no activation. */
const OWN_EXTENSION = /^urn:parley:/;

/**
 * Returns the `A2A-Extensions` header, which activates the extensions of a Message and of its call at the agent
 * (section 3.2.6).
 */
export function extensionsHeader(
  { message }: SendMessageRequest,
  { extensions = [] }: Pick<AgentCallOptions, 'extensions'>,
): Record<string, string> | undefined {
  const named = new Set([...(message.extensions ?? []), ...extensions]);
  const sent = [...named].filter((uri) => !OWN_EXTENSION.test(uri) && VISIBLE.test(uri));
  return sent.length === 0 ? undefined : { 'a2a-extensions': sent.join(', ') };
}

/** Text that a header may have, and that is one entry of a list. */
const VISIBLE = /^[\x21-\x2b\x2d-\x7e]{1,2048}$/;

/** Returns the `Idempotency-Key` header, under which a repeated Message counts as the same Message. */
export function keyHeader({ idempotencyKey }: { idempotencyKey?: string }): Record<string, string> | undefined {
  return idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey };
}
