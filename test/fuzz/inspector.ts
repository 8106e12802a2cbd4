import { once } from 'node:events';
import { WebSocket } from 'ws';

interface Answer {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

/** Client of the necessary part of the Chrome DevTools protocol. */
export class Inspector {
  private last = 0;

  private constructor(private readonly socket: WebSocket) {}

  static async open(address: string): Promise<Inspector> {
    const socket = new WebSocket(address);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** Calls a method. Rejects with the inspector's error, or when the process has ended. */
  call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error(`${method}: the inspector is gone`));
      const take = (data: Buffer): void => {
        const answer = JSON.parse(data.toString()) as Answer;
        if (answer.id !== id) return;
        this.socket.off('message', take).off('close', gone);
        if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
        else resolve(answer.result);
      };
      this.socket.on('message', take).on('close', gone);
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** Evaluates an expression in the process. Its value must be representable as JSON. */
  async evaluate<T>(expression: string): Promise<T> {
    const params = { expression, returnByValue: true };
    const { result, exceptionDetails } = (await this.call('Runtime.evaluate', params)) as {
      result: { value?: unknown };
      exceptionDetails?: { text: string };
    };
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value as T;
  }

  close(): void {
    this.socket.terminate();
  }
}
