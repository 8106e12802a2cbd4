import { request } from 'node:http';
import { connect } from 'node:net';
import { before } from './until.js';

export interface RawRequest {
  method?: string;
  /** Request target as it is sent, also in absolute form. */
  target: string;
  /** Headers to send besides Host and the length of the body; `host` replaces the Host header. */
  headers?: Record<string, string>;
  body?: string;
}

export interface RawAnswer {
  status: number;
  /** Media type of the answer, without parameters. */
  type: string;
  text: string;
}

/**
 * Sends a request with any headers, including those that `fetch` does not allow. @returns the beginning of the answer
 */
export async function sendRaw(base: string, { method = 'GET', target, headers, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(base);
  const answered = Promise.withResolvers<RawAnswer>();
  const options = { host: hostname, port, method, path: target, headers, agent: false, setDefaultHeaders: true };
  const outgoing = request(options, (response) => {
    let text = '';
    const type = response.headers['content-type']?.split(';', 1)[0] ?? '';
    const done = (): void => {
      answered.resolve({ status: response.statusCode ?? 0, type, text });
      outgoing.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (type === 'text/event-stream') done();
    });
    response.on('end', done);
  });
  outgoing.on('error', answered.reject);
  outgoing.end(body);
  return before(answered.promise, { what: `the answer to ${method} ${target}` });
}

/** Sends bytes, and returns all received bytes until the service closes the connection. */
export function exchangeRaw(base: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let text = '';
  const closed = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
  socket.write(bytes);
  return before(closed, { what: 'the service to close the connection' });
}
