import type { JsonObject, StreamResponse } from '#libs/protocol';

/** Addresses at which the agents of a service are reached. */
export interface Endpoints {
  /** Base URL without a trailing slash. */
  url: string;
  /** Target of gRPC, as `host:port`. */
  grpc: string;
}

export interface WireError {
  /** Error code of the binding: of JSON-RPC, HTTP or gRPC. */
  code: number;
  message: string;
  reason?: string;
  domain?: string;
  /** Names of the invalid fields. */
  fields: string[];
}

export interface Answer<T = JsonObject> {
  result?: T;
  error?: WireError;
  /** Value of `a2a-extensions` in the answer. */
  extensions?: string;
}

export interface OpenStream {
  items: AsyncIterable<StreamResponse>;
  /** Closes the connection abruptly. */
  leave(): void;
}

/** Client of one binding of A2A 1.0, without Parley's own code. Paths are those below `/a2a`; `''` is the service. */
export interface WireBinding {
  readonly name: 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
  call<T = JsonObject>(path: string, operation: string, params: JsonObject, headers?: Headers): Promise<Answer<T>>;
  /** Opens a stream. @throws WireFailure if it is refused */
  open(path: string, operation: string, params: JsonObject, headers?: Headers): Promise<OpenStream>;
}

export type Headers = Record<string, string>;

export class WireFailure extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
  }
}

/** Creates an error from the code of a binding and its `google.rpc` details as ProtoJSON. */
export function wireError(code: number, message: string, details: JsonObject[] = []): WireError {
  const of = (type: string) => details.find((it) => String(it['@type']).endsWith(type));
  const info = of('.ErrorInfo') as { reason: string; domain: string } | undefined;
  const violations = of('.BadRequest')?.fieldViolations as { field: string }[] | undefined;
  return {
    code,
    message,
    reason: info?.reason,
    domain: info?.domain,
    fields: (violations ?? []).map((it) => it.field).toSorted(),
  };
}
