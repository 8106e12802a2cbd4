import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { createProblem } from '#libs/http';
import { A2AError } from '#libs/protocol';

const STATUSES: Readonly<Record<string, [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
};

/**
 * Answers input that is not an HTTP request, or was not received in time; no route sees it. The format is that of the
 * surface that its address seems to mean, if the address is readable.
 */
export function answerUnreadableRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, detail] = STATUSES[error.code ?? ''] ?? [400, 'This is no HTTP request'];
  const [type, body] = A2A.test(beginningOf(error))
    ? (['application/a2a+json', a2aBody(status, detail)] as const)
    : ([
        'application/problem+json',
        JSON.stringify({ ...createProblem(status, detail), requestId: randomUUID() }),
      ] as const);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

/** Returns the start of the last packet that the parser read: the request line, if the rest arrived with it. */
function beginningOf(error: Error): string {
  const { rawPacket } = error as Error & { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, 64).toString('latin1') : '';
}

const A2A = /^[A-Z]+ \/a2a[/? ]/;

function a2aBody(status: number, message: string): string {
  const error = new A2AError('INVALID_REQUEST', { message, status });
  return JSON.stringify({ error: { code: status, status: error.grpc, message, details: error.toDetails() } });
}
