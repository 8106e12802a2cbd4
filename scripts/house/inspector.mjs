/** Process under Node's inspector, queried over the necessary part of the Chrome DevTools protocol. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export class Inspector {
  #last = 0;

  constructor(socket) {
    this.socket = socket;
  }

  /** Connects to the address that Node prints with `--inspect`. */
  static async open(address) {
    const socket = new WebSocket(address, { maxPayload: 2 ** 30 });
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** Resolves with the answer to a command; rejects with the inspector's error. */
  call(method, params = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const take = (data) => {
        const answer = JSON.parse(data.toString());
        if (answer.id !== id) return;
        this.socket.off('message', take);
        if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
        else resolve(answer.result);
      };
      this.socket.on('message', take);
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close() {
    this.socket.terminate();
  }
}
