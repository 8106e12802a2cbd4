import { type TraceContext, type TraceHeaders, traceHeaders, type AnswerPlace } from '#libs/service';
import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import type { CallOptions, CallTimeouts } from './agent-client.js';
import type { RequestAuth } from './request-signers.js';

/** A call's options and what ties its transport to the attempt. */
export interface TransportOptions extends CallOptions {
  /** Ends the attempt: the transport stops and closes its connection on abort. */
  signal: AbortSignal;
  /** Told of every sign of life, be it only a heartbeat. */
  alive: () => void;
  /** Account of the bytes of the call's answer. */
  place?: AnswerPlace;
  /** What the call carries where it names a credential. */
  auth?: RequestAuth;
}

/** One way to reach one agent. Each method is a single exchange: no limits, no retry, no resumption. */
export interface AgentTransport {
  /** Whether SubscribeToTask may be called. */
  readonly streaming: boolean;
  /** Limits that suit this transport better than the usual ones. */
  readonly timeouts: Partial<CallTimeouts>;
  send(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse>;
  /**
   * Sends a Message and returns the agent's first answer: its Task, which may still work, or a direct Message. Absent
   * where every Message is to be streamed.
   */
  post?(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse>;
  subscribe(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse>;
  getTask(taskId: string, options: TransportOptions): Promise<Task>;
  cancelTask(taskId: string, options: TransportOptions): Promise<Task>;
}

/** Gives the headers by which an agent knows who calls; asked at each call. */
export type CallCredentials = (options: CallOptions) => Readonly<Record<string, string>> | undefined;

/**
 * The credentials for an agent by the URL that its caller named, whatever its card says of where it is; `undefined` for
 * one that has no business with any.
 */
export type CredentialsOf = (agentUrl: string) => CallCredentials | undefined;

/** What Parley accepts where a caller names nothing: texts and JSON. */
const ACCEPTED_OUTPUT_MODES = ['text/plain', 'application/json'];

/**
 * Returns a request as every transport sends it.
 * @param returnImmediately asks for an answer as soon as there is a Task, instead of at the end of the turn
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
 * True if an agent that does not stream is to answer as soon as there is a Task: only a Task whose id is known can be
 * followed after a crash, and canceled. Of a follow-up it is known before.
 */
export function isAnsweredAtOnce(request: SendMessageRequest, streaming: boolean): boolean {
  return !streaming && request.message.taskId === undefined;
}

/** The headers that tell an agent which trace the call belongs to. */
export function tracing({ trace }: { trace?: TraceContext }): TraceHeaders | undefined {
  return trace && traceHeaders(trace);
}

/** The header that makes a Message which is sent again the same one. */
export function keyHeader({ idempotencyKey }: { idempotencyKey?: string }): Record<string, string> | undefined {
  return idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey };
}
