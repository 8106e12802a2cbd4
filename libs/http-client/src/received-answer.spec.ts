import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '#libs/service';
import { OutboundHttp } from './outbound-http.js';

/** Body that is longer than what the client buffers before the body is read. */
const LONG = Buffer.alloc(4 * 1024 * 1024);

describe('the body of a Response', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  afterAll(() => http.close());

  /** Calls a server that responds with `answer`. @returns the Response, and a promise of the end of its connection */
  async function responseOf(
    answer: (response: ServerResponse) => void,
  ): Promise<{ response: Response; closed: Promise<unknown> }> {
    const closed = Promise.withResolvers<unknown>();
    server = createServer((_request, response) => {
      response.on('close', () => closed.resolve(undefined));
      answer(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const response = await http.fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return { response, closed: closed.promise };
  }

  it('closes its connection where it is canceled unread', async () => {
    const { response, closed } = await responseOf((it) => void it.end(LONG));
    await response.body!.cancel();
    await closed;
  });

  it('closes its connection where it is canceled during a read', async () => {
    const { response, closed } = await responseOf((it) => it.writeHead(200).flushHeaders());
    const reader = response.body!.getReader();
    const read = reader.read();
    await reader.cancel();
    await closed;
    expect((await read).done).toBe(true);
  });

  it('is not waited for where it is that of an error', async () => {
    const { response } = await responseOf((it) => void it.writeHead(404, { 'content-length': 2 }).write('x'));
    expect(response.status).toBe(404);
  });

  it('comes to its end where it is that of an error', async () => {
    const { response } = await responseOf((it) => void it.writeHead(404, { 'content-length': 2 }).end('no'));
    expect(await response.text()).toBe('no');
  });

  describe('whose reader stops before its end', () => {
    beforeEach(() => {
      // No rest of a body comes too late before the test says so.
      jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'Date'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    /** Reads the first piece of a body that does not end by itself. @returns the response of the server */
    async function stopAfterFirstPiece(): Promise<ServerResponse> {
      const begun = Promise.withResolvers<ServerResponse>();
      server = createServer((_request, response) => {
        response.write('first');
        begun.resolve(response);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const answer = await http.request({ url, method: 'GET', headers: {} });
      for await (const piece of answer.readPieces()) {
        expect(Buffer.from(piece).toString()).toBe('first');
        break;
      }
      return begun.promise;
    }

    it('is read to an end that comes soon, so that its connection lives on', async () => {
      const response = await stopAfterFirstPiece();
      const closed = once(response, 'close');
      response.end('the rest');
      await closed;
      expect(response.writableFinished).toBe(true);
    });

    it('closes its connection where no end comes', async () => {
      const response = await stopAfterFirstPiece();
      const closed = once(response, 'close');
      jest.advanceTimersByTime(100);
      await closed;
      expect(response.writableFinished).toBe(false);
    });
  });
});
