import { jest } from '@jest/globals';
import { AgentCallError } from '#libs/a2a-client';
import { AnswerAccount, boundedBody } from './bounded-body.js';

const BOUNDS = { bytes: 16 * 1024 * 1024, members: 1_000 };
const LINE = `data: ${'x'.repeat(60_000)}\n`;
/** Milliseconds just below the time limit of an event, and the milliseconds that then exceed the limit. */
const [SOON, LATE] = [59_000, 1_001];

/** Body with the limits BOUNDS. The test writes its input, and its output is read immediately and dropped. */
class ReadBody {
  held = 0;
  failure: AgentCallError | undefined;
  private readonly writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;

  constructor(isStream = true) {
    const account = new AnswerAccount((bytes) => {
      this.held += bytes;
      return true;
    });
    const { writable, readable } = boundedBody(
      { ...BOUNDS, cut: (reason) => (this.failure = reason) },
      { account, isStream },
    );
    this.writer = writable.getWriter();
    this.writer.closed.catch(() => undefined);
    void readable.pipeTo(new WritableStream()).catch(() => undefined);
  }

  async write(text: string): Promise<void> {
    await this.writer.write(new TextEncoder().encode(text)).catch(() => undefined);
  }
}

describe('a stream of events', () => {
  let body: ReadBody;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    body = new ReadBody();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('holds an event of many lines until it ends', async () => {
    for (let line = 0; line < 100; line += 1) await body.write(LINE);
    expect(body.held).toBeGreaterThan(6_000_000);
    await body.write('\n');
    expect(body.held).toBe(0);
  });

  it.each([
    ['\\n\\n', '\n\n'],
    ['\\r\\r', '\r\r'],
    ['\\r\\n\\r\\n', '\r\n\r\n'],
    ['\\n\\r\\n', '\n\r\n'],
  ])('holds nothing after an event that ended with %s, wherever it is cut', async (_name, end) => {
    for (const character of `data: a${end}`) await body.write(character);
    expect(body.held).toBe(0);
    await body.write(`data: b${end}data: c`);
    expect(body.held).toBe('data: c'.length);
    await body.write(`\rdata: d\nid: 1\r\n${end}`);
    expect(body.held).toBe(0);
  });

  it('holds an event whose lines end with CRLF that is cut', async () => {
    for (const piece of ['data: a\r', '\n', 'data: b\r', '\n']) await body.write(piece);
    expect(body.held).toBe('data: adata: b'.length);
  });

  it('is cut where an event does not end within a minute, and holds nothing then', async () => {
    await body.write('data: a');
    jest.advanceTimersByTime(SOON);
    await body.write('b');
    expect([body.held, body.failure]).toEqual([8, undefined]);
    jest.advanceTimersByTime(LATE);
    expect(body).toMatchObject({
      held: 0,
      failure: { message: 'the answer did not end within 60 s of its first byte' },
    });
  });

  it('lasts as long as its events end', async () => {
    for (let event = 0; event < 4; event += 1) {
      await body.write('a: b\n\ndata: a');
      jest.advanceTimersByTime(SOON);
    }
    await body.write('\n\n');
    jest.advanceTimersByTime(10 * SOON);
    expect([body.held, body.failure]).toEqual([0, undefined]);
  });

  it('lasts as long as there are only comments', async () => {
    await body.write(': here I am\n');
    jest.advanceTimersByTime(10 * SOON);
    expect([body.held, body.failure]).toEqual([0, undefined]);
  });

  it('is cut where an id is longer than 4,096 bytes', async () => {
    await body.write(`id: ${'x'.repeat(4_000)}\n\n`);
    expect(body.failure).toBeUndefined();
    await body.write(`id: ${'x'.repeat(4_096)}\n\n`);
    expect(body.failure?.message).toBe('the answer names an event with more than 4096 characters');
  });

  it.each([': "\n', 'id: \\\n', 'event: {"\\\n'])('has its members counted after a line %j', async (line) => {
    await body.write(line);
    await body.write(`data: [${'[],'.repeat(1_000)}[]]\n\n`);
    expect(body.failure?.message).toMatch(/^the answer has more than 1000 members/);
  });

  it('has its levels counted after a comment of brackets', async () => {
    await body.write(`: ${']'.repeat(600)}\n`);
    await body.write(`data: ${'['.repeat(501)}`);
    expect(body.failure?.message).toMatch(/deeper than 500 levels/);
  });
});

describe('an answer that is no stream', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is held until it ends, and cut where that takes more than a minute', async () => {
    const body = new ReadBody(false);
    await body.write('{"a":\n\n');
    jest.advanceTimersByTime(SOON);
    expect([body.held, body.failure]).toEqual([7, undefined]);
    jest.advanceTimersByTime(LATE);
    expect(body).toMatchObject({ held: 0, failure: { kind: 'invalid-response' } });
  });

  it('may be waited for with white space', async () => {
    const body = new ReadBody(false);
    await body.write(' \n');
    jest.advanceTimersByTime(10 * SOON);
    expect([body.held, body.failure]).toEqual([0, undefined]);
  });
});
