import type { A2AError } from '#libs/protocol';
import type { StreamFraming } from '../http/event-stream.js';
import type { RpcId } from './envelope.js';

/** A response around a result that is JSON already. */
export function resultResponse(id: RpcId, resultJson: string): string {
  return `${resultPrefix(id)}${resultJson}}`;
}

/** A response with an error in the shape of section 9.5; `message` replaces the error's own text. */
export function errorResponse(id: RpcId, error: A2AError, message = error.message): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code, message, data: error.details() } });
}

/** Every item of a stream is a response to the one request (section 9.4.2). */
export class RpcFraming implements StreamFraming {
  private readonly prefix: string;

  constructor(private readonly id: RpcId) {
    this.prefix = resultPrefix(id);
  }

  item(json: string): string {
    return `${this.prefix}${json}}`;
  }

  error(error: A2AError): { data: string } {
    return { data: errorResponse(this.id, error) };
  }
}

function resultPrefix(id: RpcId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}
