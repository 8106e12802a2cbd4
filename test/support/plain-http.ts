import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { before } from './until.js';

/** Request that is sent verbatim: its target is not resolved, escaped or corrected. */
export interface PlainRequest {
  method: string;
  /** Target in the request line. */
  target: string;
  /** Headers. A list is sent as several header lines of the same name. */
  headers?: Record<string, string | string[]>;
  body?: string;
}

export interface PlainReply {
  /** Status; 0: the connection was closed without an answer. */
  status: number;
  headers: IncomingMessage['headers'];
  /** Text of the answer; for a stream, only its beginning. */
  text: string;
}

const NOTHING: PlainReply = { status: 0, headers: {}, text: '' };
const LAST = 'GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
const WITHIN_MS = 180_000;

/** Client for requests that a well-behaved client would not send. */
export class PlainHttp {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 32 });
  private readonly address: { hostname: string; port: string };

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.address = { hostname, port };
  }

  /** Sends a request. Rejects if there is no answer in time. */
  send({ method, target, headers = {}, body }: PlainRequest): Promise<PlainReply> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const call = request({
        ...this.address,
        agent: this.agent,
        method,
        path: target,
        headers: { ...headers, ...length },
      });
      call.setTimeout(WITHIN_MS, () => {
        reject(new Error(`No answer to ${method} ${target} ${JSON.stringify(headers)}`));
        call.destroy();
      });
      call.on('error', () => resolve(NOTHING));
      call.on('upgrade', ({ headers }, socket) => {
        socket.destroy();
        resolve({ status: 101, headers, text: '' });
      });
      call.on('response', (response) => void read(response).then(resolve, () => resolve(NOTHING)));
      call.end(body);
    });
  }

  /**
   * Sends bytes on a new connection, followed by a request that closes the connection if it is still in order. @returns
   * all received bytes as text
   */
  exchange(bytes: string): Promise<string> {
    const socket = connect(Number(this.address.port), this.address.hostname);
    let text = '';
    const closed = new Promise<string>((resolve) => {
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      socket.on('error', () => undefined).on('close', () => resolve(text));
    });
    socket.write(`${bytes}${LAST}`, 'latin1');
    return before(closed, { within: WITHIN_MS, what: 'the connection to be closed' });
  }

  close(): void {
    this.agent.destroy();
  }
}

async function read(response: IncomingMessage): Promise<PlainReply> {
  const { statusCode: status = 0, headers } = response;
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk);
    if (headers['content-type']?.startsWith('text/event-stream')) break;
  }
  return { status, headers, text };
}

/** Calls a function for each item, `atOnce` at a time. @returns the results in the order of the items */
export async function sweep<T, R>(items: readonly T[], call: (item: T) => Promise<R>, atOnce = 32): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await call(items[at] as T);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}
