import type { JsonObject, StreamResponse } from '#libs/protocol';

/** Where a service's agents are reached. */
export interface Endpoints {
  /** Without a slash at the end. */
  url: string;
  /** `host:port` of gRPC. */
  grpc: string;
}

export interface WireError {
  /** The binding's own number: of JSON-RPC, of HTTP, or of gRPC. */
  code: number;
  message: string;
  reason?: string;
  domain?: string;
  /** The names of the fields that are blamed. */
  fields: string[];
}

export interface Answer<T = JsonObject> {
  result?: T;
  error?: WireError;
  /** The `a2a-extensions` of the answer. */
  extensions?: string;
}

export interface OpenStream {
  items: AsyncIterable<StreamResponse>;
  /** Leaves without a word. */
  leave(): void;
}

/** One binding of A2A 1.0, driven from outside. Paths are those below `/a2a`; `''` is the service. */
export interface WireBinding {
  readonly name: 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
  call<T = JsonObject>(path: string, operation: string, params: JsonObject, headers?: Headers): Promise<Answer<T>>;
  /** @throws WireFailure where it is refused */
  open(path: string, operation: string, params: JsonObject, headers?: Headers): Promise<OpenStream>;
}

export type Headers = Record<string, string>;

export class WireFailure extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
  }
}

/** An error from a binding's own number and its `google.rpc` details as ProtoJSON. */
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
