import { A2AError, type FieldViolation, isJsonObject } from '#libs/protocol';
import type { StreamFraming } from './event-stream.js';

/** Id of a JSON-RPC request; `null` if it could not be read. */
export type RpcId = string | number | null;

/** Method and parameters of a JSON-RPC 2.0 request. */
export interface RpcRequest {
  method: string;
  /** Parameters; an empty object if absent. */
  params: unknown;
}

/**
 * Reads the id of a JSON-RPC request, even if the rest of the body is invalid. Returns `null` if there is no valid id.
 */
export function readId(body: unknown): RpcId {
  const id = isJsonObject(body) ? body.id : undefined;
  return isId(id) ? id : null;
}

/**
 * Reads the JSON-RPC envelope of a request. Batches and notifications are rejected: every operation of A2A has an
 * answer.
 * @throws A2AError INVALID_REQUEST with one violation per invalid field; PARSE_ERROR for an empty body
 */
export function readRequest(body: unknown): RpcRequest {
  if (body === undefined) throw new A2AError('PARSE_ERROR', { message: 'The request body is empty' });
  if (Array.isArray(body)) throw new A2AError('INVALID_REQUEST', { message: 'Batches are not supported' });
  if (!isJsonObject(body)) throw new A2AError('INVALID_REQUEST', { message: 'A request must be a JSON object' });
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== '2.0' || !isId(id) || typeof method !== 'string' || method === '') throw invalidEnvelope(body);
  return { method, params: params ?? {} };
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
}

function invalidEnvelope({ jsonrpc, id, method }: Record<string, unknown>): A2AError {
  const violations: FieldViolation[] = [];
  if (jsonrpc !== '2.0') violations.push({ field: 'jsonrpc', description: 'must be "2.0"' });
  if (!isId(id)) violations.push({ field: 'id', description: 'must be a string or a number' });
  if (typeof method !== 'string' || method === '')
    violations.push({ field: 'method', description: 'must be the name of a method' });
  return new A2AError('INVALID_REQUEST', { violations });
}

/** Builds the JSON of a response around a result that is already JSON. */
export function resultResponse(id: RpcId, resultJson: string): string {
  return `${resultPrefix(id)}${resultJson}}`;
}

/** Builds the JSON of an error response in the shape of section 9.5; `message` replaces the error's own text. */
export function errorResponse(id: RpcId, error: A2AError, message = error.message): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code, message, data: error.toDetails() } });
}

/** Framing of streams over JSON-RPC: every item is a response to the one request (section 9.4.2). */
export class RpcFraming implements StreamFraming {
  private readonly prefix: string;

  constructor(protected readonly id: RpcId) {
    this.prefix = resultPrefix(id);
  }

  frameItem({ json }: { json: string }): string {
    return `${this.prefix}${json}}`;
  }

  frameError(error: A2AError): { data: string } {
    return { data: errorResponse(this.id, error) };
  }
}

function resultPrefix(id: RpcId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}
