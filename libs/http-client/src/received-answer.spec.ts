import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dispatcher } from 'undici';
import { loadConfig } from '#libs/service';
import { OutboundDeadlines } from './outbound-call.js';
import { OutboundHttp } from './outbound-http.js';
import { ReceivedAnswer } from './received-answer.js';

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
});

describe('a body whose reader stops before its end', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Reads the first piece of a body. @returns the answer, its controller, and a log of what happened to the call */
  async function stopAfterFirstPiece() {
    const log: string[] = [];
    const controller = {
      abort: () => void log.push('connection closed'),
      pause: () => undefined,
      resume: () => undefined,
    } as unknown as Dispatcher.DispatchController;
    const answer = new ReceivedAnswer(new OutboundDeadlines(undefined, {}, undefined));
    answer.onRequestStart(controller);
    answer.onResponseStart(controller, 200, {});
    answer.onResponseData(controller, Buffer.from('first'));
    for await (const piece of answer.readPieces()) {
      log.push(Buffer.from(piece).toString());
      break;
    }
    return { answer, controller, log };
  }

  it('leaves its connection open if it ends within a moment', async () => {
    const { answer, controller, log } = await stopAfterFirstPiece();
    answer.onResponseData(controller, Buffer.from('the rest'));
    answer.onResponseEnd();
    jest.advanceTimersByTime(10_000);
    expect(log).toEqual(['first']);
  });

  it('closes its connection if no end comes', async () => {
    const { log } = await stopAfterFirstPiece();
    jest.advanceTimersByTime(100);
    expect(log).toEqual(['first', 'connection closed']);
  });

  it('closes its connection if the rest is long', async () => {
    const { answer, controller, log } = await stopAfterFirstPiece();
    answer.onResponseData(controller, LONG);
    expect(log).toEqual(['first', 'connection closed']);
  });
});
