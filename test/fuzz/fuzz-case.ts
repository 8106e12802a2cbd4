import type { JsonValue } from '#libs/protocol';

/** A valid request, from which cases are made. Texts may name what there is: `{{task}}`, `{{workflow}}`; see Corpus. */
export interface Seed {
  /** What the report counts it under: the binding and the operation, or the method and the route. */
  endpoint: string;
  transport: 'http' | 'websocket' | 'grpc';
  /** Of HTTP; for gRPC the name of the operation. */
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: JsonValue;
}

/** How the bytes of an HTTP request go out. */
export type Delivery =
  | { kind: 'whole' }
  /** In two pieces. */
  | { kind: 'pieces'; at: number }
  /** Only the beginning; then the socket is half closed, or cut. */
  | { kind: 'cut'; at: number; half: boolean };

/** One request as it goes over the wire. */
export interface FuzzCase {
  index: number;
  endpoint: string;
  transport: Seed['transport'];
  /** HTTP: everything from the request line; gRPC: the body of the HTTP/2 request. */
  bytes: Buffer;
  /** gRPC: the headers of the HTTP/2 request, and its path. */
  headers?: Record<string, string>;
  delivery: Delivery;
  /** Whether the service owes an answer: what is no HTTP at all may be cut off. */
  owed: boolean;
}

/** What came of a case. */
export interface Outcome {
  /** `200`, `grpc 5`, `stream`, `closed`: what the report counts. */
  status: string;
  /** The beginning of the answer. */
  text: string;
  /** Why it is a failure. */
  failure?: string;
}
