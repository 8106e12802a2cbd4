import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { OutboundHttp } from '#libs/http-client';
import { userMessage } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS, loadConfig } from '#libs/service';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answersParts } from '../../../test/support/fake-behaviour.js';
import { WireAgent, type WireCard } from '../../../test/support/wire-agent.js';
import type { AgentCallError } from './agent-call-error.js';
import type { AgentCallOptions } from './agent-client.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const SPOKEN: [string, WireCard, AgentCallOptions?][] = [
  ['JSON-RPC of 1.0', {}],
  ['HTTP+JSON of 1.0', { binding: 'HTTP+JSON' }],
  ['JSON-RPC of 0.3', { version: '0.3' }],
  ['HTTP+JSON of 0.3', { version: '0.3', binding: 'HTTP+JSON' }],
  ['the pre-1.0 dialect', {}, { protocol: 'founding' }],
];
const STATUS_ALONE = { kind: 'client-error', message: 'HTTP 422', code: 422 };
const JSON_MEMBERS = 1_000;

describe('the body of an error', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  const directory = new HttpAgentDirectory({ http, content: { ...DEFAULT_CONTENT_LIMITS, jsonMembers: JSON_MEMBERS } });
  const agents: WireAgent[] = [];

  afterEach(() => Promise.all(agents.splice(0).map((agent) => agent.stop())));
  afterAll(() => http.close());

  async function failureOf(
    card: WireCard,
    options: AgentCallOptions | undefined,
    answer: (response: ServerResponse) => void,
  ): Promise<AgentCallError> {
    const agent = await WireAgent.start(card, answer);
    agents.push(agent);
    const client = await directory.resolveClient(agent.url, options);
    try {
      for await (const _event of client.sendMessage({ message: userMessage('hello') }));
    } catch (error) {
      return error as AgentCallError;
    }
    throw new Error('The call did not fail');
  }

  describe.each(SPOKEN)('over %s', (_name, card, options) => {
    it('explains the failure where it is short', async () => {
      const answer = (response: ServerResponse) => response.writeHead(422).end('{"detail":"x","message":"no room"}');
      expect(await failureOf(card, options, answer)).toMatchObject({ message: 'HTTP 422: no room' });
    });

    it('is not read beyond 64 KiB', async () => {
      const answer = (response: ServerResponse) => void response.writeHead(422).end(problem({ rest: LONG }));
      expect(await failureOf(card, options, answer)).toMatchObject(STATUS_ALONE);
    });

    it('is not read beyond 64 KiB as a stream of events', async () => {
      const answer = (response: ServerResponse) =>
        response.writeHead(422, { 'content-type': 'text/event-stream' }).end(problem({ rest: LONG }));
      expect(await failureOf(card, options, answer)).toMatchObject(STATUS_ALONE);
    });

    it('is not read beyond 64 KiB that were shorter when they were sent', async () => {
      const answer = (response: ServerResponse) =>
        response.writeHead(422, { 'content-encoding': 'gzip' }).end(gzipSync(problem({ rest: LONG })));
      expect(await failureOf(card, options, answer)).toMatchObject(STATUS_ALONE);
    });

    it('is not parsed with more members than an answer may have', async () => {
      const answer = (response: ServerResponse) =>
        response.writeHead(422).end(problem({ rest: Array<number>(JSON_MEMBERS).fill(0) }));
      expect(await failureOf(card, options, answer)).toMatchObject(STATUS_ALONE);
    });

    it('is not parsed with more levels than an answer may have', async () => {
      const answer = (response: ServerResponse) =>
        response.writeHead(422).end(problem({ rest: '' }).replace('""', `${'['.repeat(501)}${']'.repeat(501)}`));
      expect(await failureOf(card, options, answer)).toMatchObject(STATUS_ALONE);
    });
  });

  it('holds no call whose agent does not end it', async () => {
    const closed: Promise<unknown>[] = [];
    const heads = [{}, { 'content-length': '1000' }, { 'content-encoding': 'gzip' }];
    const failures = SPOKEN.flatMap(([, card, options]) =>
      heads.map((head) =>
        failureOf(card, options, (response) => {
          closed.push(once(response, 'close'));
          response.writeHead(422, head).write('{');
        }),
      ),
    );
    for (const failure of await Promise.all(failures)) expect(failure).toMatchObject(STATUS_ALONE);
    await Promise.all(closed);
  });
});

describe('an answer beyond its limit', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  const [LIMIT, MIB] = [32 * 1024, 1024 ** 2];
  let agent: FakeAgent;

  afterEach(() => agent.stop());
  afterAll(() => http.close());

  async function sendTo(streaming: boolean, answer: number): Promise<number> {
    agent = await FakeAgent.start({ streaming });
    agent.always(answersParts({ text: 'x'.repeat(2 * LIMIT) }));
    const directory = new HttpAgentDirectory({ http, content: { ...DEFAULT_CONTENT_LIMITS, answer } });
    const client = await directory.resolveClient(agent.url);
    let events = 0;
    for await (const _event of client.sendMessage({ message: userMessage('hello') })) events += 1;
    return events;
  }

  it.each([
    [true, `an event of the stream is longer than ${LIMIT} characters (twice BODY_LIMIT, at least 16 MiB)`],
    [false, `the answer is longer than ${LIMIT} bytes (twice BODY_LIMIT, at least 16 MiB)`],
  ])('is a failure that names the limit, and its Task is not read (streaming: %p)', async (streaming, message) => {
    await expect(sendTo(streaming, LIMIT)).rejects.toMatchObject({ kind: 'invalid-response', message });
    expect(agent.sends).toHaveLength(1);
    if (streaming) expect(agent.calls.filter(({ method }) => method === 'GetTask')).toEqual([]);
  });

  it.each([true, false])('passes below a larger limit (streaming: %p)', async (streaming) => {
    expect(await sendTo(streaming, MIB)).toBeGreaterThan(0);
  });
});

const LONG = 'x'.repeat(64 * 1024);

function problem(members: { rest: unknown }): string {
  return JSON.stringify({ detail: 'x', message: 'no room', ...members });
}
