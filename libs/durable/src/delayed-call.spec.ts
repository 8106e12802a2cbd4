import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { FakeCallingTask, followed } from '../../../test/support/calling-task.js';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers } from '../../../test/support/fake-behaviour.js';
import type { AgentCall, CallProgress } from './agent-call.js';
import { NodeProgress, withDelay } from './node-progress.js';

/** Runs a call to its end. Returns the reasons of its delay, and its other updates. */
async function delaysOf(call: AgentCall): Promise<{ delays: string[]; updates: CallProgress[] }> {
  const [delays, updates]: [string[], CallProgress[]] = [[], []];
  for await (const update of withDelay(call))
    if ('delay' in update) delays.push(update.delay);
    else updates.push(update);
  return { delays, updates };
}

/** Returns the first reason for a delay of the call, and then stops reading the call. */
async function firstDelay(call: AgentCall): Promise<string | undefined> {
  for await (const update of withDelay(call)) return 'delay' in update ? update.delay : undefined;
  return undefined;
}

const calling = (url: string): AgentCall => new FakeCallingTask({ url }).call();

describe('a delayed call', () => {
  let agent: FakeAgent;

  beforeEach(async () => {
    agent = await FakeAgent.start();
    agent.always(answers('there'));
  });
  afterEach(() => agent.stop());

  it('gives the reason once, after the first refused connection, and then what the agent answers', async () => {
    await agent.goDown();
    const call = calling(agent.url);
    const back = call.delay.then(() => agent.comeUp());
    const { delays, updates } = await delaysOf(call);
    await back;
    expect(delays).toEqual(['no connection (ECONNREFUSED); attempt 1 failed, further ones follow for 10 s']);
    expect([updates.length, call.outcome.kind]).toEqual([1, 'completed']);
  });

  it('gives the reason of an agent that is overloaded', async () => {
    agent.always({ httpStatus: 503, headers: { 'retry-after': '30' } });
    const reason = await firstDelay(calling(agent.url));
    expect(reason).toMatch(/^HTTP 503.*; attempt 1 of 4 failed, the next one follows within 1 s$/);
  });

  it('is none where the first attempt succeeds', async () => {
    expect(await delaysOf(calling(agent.url))).toMatchObject({ delays: [], updates: [{}] });
  });

  it('ends where its reader leaves', async () => {
    await agent.goDown();
    const left = calling(agent.url);
    expect(await firstDelay(left)).toContain('ECONNREFUSED');
    expect(left.givenUp).toBe(true);
  });

  it('is none for a host name that has no address: the call fails at once', async () => {
    const call = calling('http://no-such-host.invalid/a2a/');
    expect(await delaysOf(call)).toEqual({ delays: [], updates: [] });
    expect(call.outcome).toMatchObject({ kind: 'failed', failure: { kind: 'connect' } });
  });

  it('is a text of the node that calls, unless the call ends before', async () => {
    await agent.goDown();
    const call = calling(agent.url);
    const reported = Promise.withResolvers<unknown>();
    using progress = new NodeProgress(reported.resolve);
    progress.followDelay(call);
    const over = followed(call);
    expect(await reported.promise).toMatchObject({
      type: 'node.progress',
      payload: { text: expect.stringContaining('attempt 1 failed') },
    });
    call.abort();
    await over.catch(() => undefined);
  });
});

describe('a call whose connection breaks during TLS', () => {
  let server: Server;

  beforeEach(async () => {
    server = createServer((socket) => void socket.resetAndDestroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => void server.close());

  it('fails at once: something may have been sent', async () => {
    const call = calling(`https://127.0.0.1:${(server.address() as AddressInfo).port}/a2a/`);
    expect(await delaysOf(call)).toEqual({ delays: [], updates: [] });
    expect(call.outcome).toMatchObject({ kind: 'failed', failure: { kind: 'connect' } });
  });
});
