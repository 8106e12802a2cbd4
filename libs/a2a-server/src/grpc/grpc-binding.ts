import {
  type Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Caller } from '#libs/access';
import type { CallContext, ServedAgent } from '#libs/agents';
import { type EnterFrame, type FrameRoom, LARGE_FRAME } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { inboundCall, isRegisteredAgent, namesTask, tenantPath } from '../http/call-context.js';
import { OPERATIONS, type StreamOperation, type UnaryOperation } from '../operations.js';
import { refuseRoom } from '../public-error.js';
import type { RequestHandler } from '../request-handler.js';
import type { StreamItem } from '../task-stream.js';
import type { GrpcAccess } from './grpc-access.js';
import { LEGACY_METHODS } from '../v0-3/grpc/legacy-definition.js';
import { legacyDialect } from '../v0-3/grpc/legacy-dialect.js';
import { currentDialect, type GrpcDialect, type GrpcDialectCall } from './grpc-dialect.js';
import { pathAtHost } from './grpc-hosts.js';
import { admissionOf, answerMetadata, type CallAdmission, grpcCall } from './grpc-visit.js';

type UnaryCall = ServerUnaryCall<unknown, unknown>;
type StreamCall = ServerWritableStream<unknown, unknown>;

interface GrpcBindingOptions {
  handler: RequestHandler;
  access: GrpcAccess;
  /** Memory of this process for large items of streams (FrameRoom); absent: no item waits for memory. */
  frames: FrameRoom | undefined;
  baseUrl: () => string;
  /** Target of gRPC that cards name (GRPC_PUBLIC_URL); absent: the address of the server. */
  publicTarget: string | undefined;
  /** Maximum number of members of the JSON in one request. */
  jsonMembers: number;
}

interface Opened {
  agent: ServedAgent;
  params: JsonObject;
  call: CallContext;
  caller: Caller;
  whenClosed: CallAdmission['whenClosed'];
  spoken: GrpcDialectCall<unknown>;
}

const READER_LEFT = new Error('The reader has left');
const ENDED_FOR_ALL = new Error('Every stream is ended');
const ACCESS_ENDED = new Error('The credentials are no longer valid');
const DRAINING = { code: status.UNAVAILABLE, details: 'The service is shutting down; subscribe to the task again' };
const UNKNOWN = { code: status.UNAUTHENTICATED, details: 'The credentials of this stream are no longer valid' };

/**
 * gRPC binding (section 10), with the operations, checks and errors of the other bindings.
 *
 * - All calls have passed the auth guard (grpcAuthGuard).
 * - Checks come in this order: version, message, agent, parameters.
 * - If a call is canceled or its deadline passes, only the reading of the answer ends. The agent continues its work.
 */
export class GrpcBinding {
  private readonly open = new Set<AbortController>();

  constructor(private readonly options: GrpcBindingOptions) {}

  /** Returns the handlers of the methods of 1.0 by name. */
  createHandlers(): UntypedServiceImplementation {
    return this.handlersOf(Object.entries(OPERATIONS).map(([name, it]) => [name, currentDialect(it)]));
  }

  /** Returns the handlers of the methods of 0.3 by name. */
  createLegacyHandlers(): UntypedServiceImplementation {
    return this.handlersOf(Object.entries(LEGACY_METHODS).map(([name, it]) => [name, legacyDialect(it)]));
  }

  private handlersOf(dialects: (readonly [name: string, dialect: GrpcDialect<never>])[]): UntypedServiceImplementation {
    const methods: UntypedServiceImplementation = {};
    for (const [name, given] of dialects) {
      const dialect = given as GrpcDialect;
      const { operation } = dialect;
      methods[name] =
        operation.kind === 'unary'
          ? (call: UnaryCall, done: sendUnaryData<unknown>) => void this.handleUnary(operation, dialect, call, done)
          : (call: StreamCall) => void this.handleStream(operation, dialect, call);
    }
    return methods;
  }

  /** Ends every stream with status UNAVAILABLE; readers resubscribe at another replica. */
  endAll(): void {
    for (const abort of this.open) abort.abort(ENDED_FOR_ALL);
  }

  private async handleUnary(
    operation: UnaryOperation,
    dialect: GrpcDialect,
    grpc: UnaryCall,
    done: sendUnaryData<unknown>,
  ): Promise<void> {
    const { handler } = this.options;
    try {
      const { agent, params, call, whenClosed, spoken } = await this.openCall(grpc, dialect);
      const whenGone = (gone: () => void): boolean => !grpc.cancelled && grpc.once('cancelled', gone) === grpc;
      const context = { ...call, whenAnswered: whenClosed, whenGone };
      const result = await (dialect.run?.(handler, agent, context) ??
        operation.runOperation(handler, agent, params, context));
      const answer = spoken.writeResult(result);
      grpc.sendMetadata(answerMetadata(call, agent));
      done(null, answer);
    } catch (error) {
      done(dialect.toError(error));
    }
  }

  private async handleStream(operation: StreamOperation, dialect: GrpcDialect, grpc: StreamCall): Promise<void> {
    const abort = new AbortController();
    const abortForReader = (): void => abort.abort(READER_LEFT);
    grpc.once('cancelled', abortForReader).once('close', abortForReader).on('error', abortForReader);
    this.open.add(abort);
    const ends: (() => void)[] = [];
    const { handler, access, frames } = this.options;
    try {
      const { agent, params, call, caller, spoken } = await this.openCall(grpc, dialect);
      ends.push(access.enterStream(caller, grpc.getPeer()));
      ends.push(access.watchCredentials(caller, () => abort.abort(ACCESS_ENDED)));
      const { signal } = abort;
      const items = operation.openStream(handler, agent, params, call, { signal });
      const enter = frames && ((characters: number) => frames.enterFrame(characters, call.scope).catch(refuseRoom));
      const failure = await forwardItems(items, grpc, { metadata: answerMetadata(call, agent), signal, enter, spoken });
      if (failure) grpc.emit('error', failure);
      else grpc.end();
    } catch (error) {
      grpc.emit('error', dialect.toError(error));
    } finally {
      for (const end of ends) end();
      this.open.delete(abort);
    }
  }

  private async openCall(grpc: UnaryCall | StreamCall, dialect: GrpcDialect): Promise<Opened> {
    const { caller, headers, whenClosed } = admissionOf(grpc.metadata);
    const spoken = dialect.beginCall(headers);
    const params = spoken.readParams(grpc.request, this.options.jsonMembers);
    const scope = { tenant: caller.tenant, owner: caller.owner };
    const tenant = typeof params.tenant === 'string' ? params.tenant : '';
    const named = tenantPath(tenant);
    // A tenant that named the agent is not a parameter.
    if (named !== '') delete params.tenant;
    const path = named === '' ? pathAtHost(this.options.publicTarget, grpc.getHost()) : named;
    const call = {
      ...grpcCall(headers, path, scope, this.options.baseUrl()),
      ...spoken.context,
      ...((isRegisteredAgent(path) || (path === '' && namesTask(params))) && inboundCall(caller, headers)),
    };
    const agent = await this.options.handler.agentOfTasks(call);
    return { agent, params, call, caller, whenClosed, spoken };
  }
}

/** Sends the items of a stream. @returns the status with which the stream ends early, if any */
async function forwardItems(
  items: AsyncIterable<StreamItem>,
  grpc: StreamCall,
  {
    metadata,
    signal,
    enter,
    spoken,
  }: {
    metadata: Metadata;
    signal: AbortSignal;
    enter: EnterFrame | undefined;
    spoken: GrpcDialectCall<unknown>;
  },
): Promise<typeof DRAINING | undefined> {
  let begun = false;
  for await (const item of items) {
    if (!begun) grpc.sendMetadata(metadata);
    begun = true;
    if (signal.aborted) break;
    const { length } = item.json;
    const leave = length < LARGE_FRAME ? undefined : await enter?.(length);
    await sendItem(spoken.writeResult(item.response), grpc, signal).finally(leave);
    if (spoken.isLast?.(item.response)) break;
  }
  if (signal.reason === ACCESS_ENDED) return UNKNOWN;
  return signal.reason === ENDED_FOR_ALL ? DRAINING : undefined;
}

/**
 * Sends one item and waits until the item has left or the stream is aborted: a slow reader costs the memory of one
 * item. GrpcAnswer cuts a reader that is too slow.
 */
function sendItem(response: unknown, grpc: StreamCall, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finishSending = (): void => {
      signal.removeEventListener('abort', finishSending);
      resolve();
    };
    signal.addEventListener('abort', finishSending, { once: true });
    grpc.write(response, finishSending);
  });
}
