import type { JsonValue } from '#libs/protocol';

/**
 * Valid request from which cases are derived. Its texts may contain placeholders of existing objects, such as
 * `{{task}}` and `{{workflow}}` (see Corpus).
 */
export interface Seed {
  /** Name under which the report counts the request: the binding and the operation, or the method and the route. */
  endpoint: string;
  transport: 'http' | 'websocket' | 'grpc';
  /** HTTP method; for gRPC the name of the operation. */
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: JsonValue;
}

/** Way in which the bytes of an HTTP request are sent. */
export type Delivery =
  | { kind: 'whole' }
  /** Sends the bytes in two pieces, split at `at`. */
  | { kind: 'pieces'; at: number }
  /** Sends only the first `at` bytes; then the socket is half closed (`half`), or destroyed. */
  | { kind: 'cut'; at: number; half: boolean };

/** Request as it is sent. */
export interface FuzzCase {
  index: number;
  endpoint: string;
  transport: Seed['transport'];
  /** Bytes to send. HTTP: everything from the request line; gRPC: the body of the HTTP/2 request. */
  bytes: Buffer;
  /** Headers of the HTTP/2 request, including its path, for gRPC. */
  headers?: Record<string, string>;
  delivery: Delivery;
  /** True if the service must answer. Bytes that are not HTTP may be answered by closing the connection. */
  owed: boolean;
}

/** Outcome of a case. */
export interface Outcome {
  /** Status that the report counts, such as `200`, `grpc 5`, `stream` or `closed`. */
  status: string;
  /** Beginning of the answer. */
  text: string;
  /** Reason why the outcome is a failure; absent if it is none. */
  failure?: string;
}
