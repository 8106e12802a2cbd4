import { type ClientHttp2Session, connect } from 'node:http2';
import type { FuzzCase } from '../fuzz-case.js';

export interface GrpcAnswer {
  /** gRPC status; `undefined`: the stream was closed without a status. */
  code: number | undefined;
  text: string;
  late: boolean;
}

const STREAM_MS = 30;
const STREAMS = /(SendStreamingMessage|SubscribeToTask)$/;

/** Client that sends raw HTTP/2 requests to the gRPC listener, over one connection as long as it works. */
export class RawGrpc {
  private session: ClientHttp2Session | undefined;

  constructor(private readonly target: string) {}

  /** Sends a case. Never rejects. */
  send({ bytes, headers = {}, owed }: FuzzCase, deadlineMs: number): Promise<GrpcAnswer> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = [];
      let late = false;
      let code: number | undefined;
      let details = '';
      const stream = this.open().request(headers);
      const follows = STREAMS.test(headers[':path'] ?? '');
      const timer = setTimeout(
        () => {
          late = owed && !follows;
          stream.close(8);
        },
        owed && !follows ? deadlineMs : STREAM_MS,
      );
      const told = (trailers: Record<string, unknown>): void => {
        if (trailers['grpc-status'] !== undefined) code = Number(trailers['grpc-status']);
        details += String(trailers['grpc-message'] ?? '');
      };
      stream.on('response', told).on('trailers', told);
      stream.on('data', (chunk: Buffer) => void (pieces.length < 16 && pieces.push(chunk)));
      stream.on('error', () => undefined);
      stream.on('close', () => {
        clearTimeout(timer);
        resolve({ code, text: `${details} ${Buffer.concat(pieces).toString('latin1')}`, late });
      });
      stream.end(bytes);
    });
  }

  close(): void {
    this.session?.destroy();
  }

  private open(): ClientHttp2Session {
    if (this.session && !this.session.closed && !this.session.destroyed) return this.session;
    const session = connect(`http://${this.target}`);
    session.on('error', () => session.destroy());
    session.on('goaway', () => session.close());
    this.session = session;
    return session;
  }
}
