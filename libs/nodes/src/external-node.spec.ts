import { jest } from '@jest/globals';
import { AgentCallError, HttpAgentDirectory } from '#libs/a2a-client';
import { CallChains, keptChain, type RequestContext, TaskCanceled } from '#libs/agents';
import { type JsonObject, statusUpdate } from '#libs/protocol';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers, answersParts, ends, holds } from '../../../test/support/fake-behaviour.js';
import { holdTimeouts } from '../../../test/support/fake-time.js';
import { laxly, Pre10Agent } from '../../../test/support/pre-1-0-agent.js';
import { until } from '../../../test/support/until.js';
import { ExternalNode } from './external-node.js';
import type { NodeEvent } from './node-executor.js';
import { artifactParts, finalText, outline, played, taskWith, turn } from './testing/turn.js';

describe('external nodes', () => {
  const chains = new CallChains(Buffer.from('a secret'));
  const directory = new HttpAgentDirectory({ http: { fetch, cachedFetch: fetch }, onCardless: () => undefined });
  const type = new ExternalNode(directory, chains);
  let agent: FakeAgent;

  const node = (config: JsonObject = {}) => ({
    id: 'ext',
    type: 'external',
    config: { endpoint_url: agent.url, ...config },
  });
  const play = (context: RequestContext, config?: JsonObject) => played(type.createExecutor(node(config)), context);

  beforeEach(async () => {
    agent = await FakeAgent.start();
  });
  afterEach(() => agent.stop());

  it('E3 sends the text of the Message on, once, or the default sentence', async () => {
    await play(turn('hello'));
    await play(turn([{ data: {} }]));
    expect(agent.texts).toEqual(['hello', 'Execute external node ext']);
  });

  it.each([
    ['the text of the first Artifact', answersParts({ data: 1 }, { text: 'te' }, { text: 'xt' }), 'text'],
    ['what it said at the end without an Artifact', ends('TASK_STATE_COMPLETED', 'all said'), 'all said'],
    ['its data as JSON', answersParts({ data: { a: [1] } }), '{"a":[1]}'],
    ['`no output`', answersParts({ url: 'http://x/y' }), 'no output'],
    ['a direct Message', { message: [{ text: 'direct' }] }, 'direct'],
  ])('E5 gives %s', async (_what, behaviour, text) => {
    agent.always(behaviour);
    const events = await play(turn('x'));
    expect(artifactParts(events)?.[0]).toEqual({ text, mediaType: 'text/plain' });
    expect(outline(events).at(-1)).toBe('completed');
  });

  it('E5 gives all other Parts of all Artifacts behind that text', async () => {
    const file = { raw: 'AAAA', mediaType: 'image/png' };
    const steps = [
      { artifact: { artifactId: 'one', parts: [{ data: { a: 1 } }, { text: 'te' }, { text: 'xt' }, file] } },
      { artifact: { artifactId: 'two', parts: [{ text: 'more' }] } },
      { status: 'TASK_STATE_COMPLETED' as const },
    ];
    agent.always({ steps });
    const more = { text: 'more', metadata: { 'parley/part-of': 'two' } };
    expect(artifactParts(await play(turn('x')))).toEqual([
      { text: 'text', mediaType: 'text/plain' },
      { data: { a: 1 } },
      file,
      more,
    ]);
  });

  it('passes on the Parts that the card accepts, and describes others', async () => {
    const file = { raw: 'AAAA', mediaType: 'image/png', filename: 'a.png' };
    agent.options.card = { defaultInputModes: ['text/plain'] };
    await play(turn([{ data: { n: 1 } }, file, { text: 'look' }]));
    const texts = agent.sends[0]?.message?.parts.map(({ text }) => text);
    expect(texts).toEqual(['look', '{"n":1}', '[file a.png, image/png, 3 bytes]']);
    agent.options.card = { defaultInputModes: ['text/plain', 'image/*', 'application/json'] };
    await play(turn([{ data: { n: 1 } }, file]));
    const [order, ...others] = agent.sends[1]?.message?.parts ?? [];
    expect(order?.text).toBe('Execute external node ext');
    expect(others).toEqual([{ data: { n: 1 } }, file]);
  });

  it('E4 tells that the remote failed, and what a failed call failed with', async () => {
    agent.next(ends('TASK_STATE_FAILED', 'their secret'), ends('TASK_STATE_REJECTED'), {
      rpcError: { code: -32000, message: 'test error' },
    });
    expect(finalText(await play(turn('x')))).toBe(`Error: external agent ${agent.url} failed`);
    expect(finalText(await play(turn('x')))).toBe(`Error: external agent ${agent.url} rejected`);
    expect(finalText(await play(turn('x')))).toBe(
      `Error: external agent call to ${agent.url}: a2a error -32000: test error`,
    );
    const nobody = type.createExecutor({
      id: 'ext',
      type: 'external',
      config: { endpoint_url: 'http://localhost:1', timeout: 1 },
    });
    expect(finalText(await played(nobody, turn('x')))).toMatch(
      /^Error: external agent call to http:\/\/localhost:1: no connection/,
    );
  });

  it('E8 the timeout holds over the whole call', async () => {
    agent.always({ hang: true });
    const began = performance.now();
    const events = await play(turn('x'), { timeout: 1 });
    expect(finalText(events)).toMatch(/^Error: external agent call to http:.*: timeout: not finished within 1 s$/);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  it('E8 cancels the remote Task when the time is over', async () => {
    agent.options.streaming = true;
    agent.always(holds());
    const events = await play(turn('x'), { timeout: 2 });
    expect(finalText(events)).toMatch(/: timeout: not finished within 2 s$/);
    await until(() => agent.cancels.length > 0, { what: 'CancelTask' });
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it('calls nobody before its own Task is durable', async () => {
    const durable = Promise.withResolvers<void>();
    const flushing = Promise.withResolvers<void>();
    const flush = () => {
      flushing.resolve();
      return durable.promise;
    };
    const events = play(turn('x', { flush }));
    await flushing.promise;
    expect(agent.calls).toEqual([]);
    durable.resolve();
    expect(finalText(await events)).toBe('ok');
  });

  it('calls nobody where its Task goes on elsewhere', async () => {
    const abort = new AbortController();
    const prove = async () => {
      abort.abort(new Error('The claim is lost'));
      throw abort.signal.reason;
    };
    await expect(play(turn('x', { assertClaimHeld: prove, signal: abort.signal }))).rejects.toThrow(
      'The claim is lost',
    );
    expect(agent.sends).toEqual([]);
  });

  it('E2 fails without an endpoint, with the text that a save is refused with', async () => {
    const bare = { id: 'x', type: 'external', config: {} };
    const text = 'external node "x": missing endpoint_url config';
    expect(type.findProblems(bare)).toEqual([{ path: 'config.endpoint_url', detail: text }]);
    expect(finalText(await played(type.createExecutor(bare), turn('x')))).toBe(`Error: ${text}`);
  });

  it('names what else is wrong with its config', () => {
    expect(type.findProblems(node())).toEqual([]);
    expect(type.findProblems(node({ endpoint_url: 'ftp://x', timeout: 0, auth: 1, protocol: '1.0' }))).toEqual([
      { path: 'config.endpoint_url', detail: 'external node "ext": endpoint_url must be an http or https URL' },
      {
        path: 'config.timeout',
        detail: 'external node "ext": timeout must be a number of seconds, from 1 to 2147483',
      },
      { path: 'config.protocol', detail: 'external node "ext": protocol must be "founding", or absent' },
      { path: 'config.auth', detail: 'external node "ext": auth must be the name of a credential' },
    ]);
  });

  it('E8 takes no timeout that is longer than a timer, and keeps a stored one to that', async () => {
    expect(type.findProblems(node({ timeout: 2_147_483 }))).toEqual([]);
    expect(type.findProblems(node({ timeout: 2_147_484 }))).toHaveLength(1);
    const events = await play(turn('x'), { timeout: 2_147_484_000 });
    expect(outline(events).at(-1)).toBe('completed');
  });

  it('waits for an agent that starts again', async () => {
    await agent.goDown();
    const events = play(turn('x'));
    setTimeout(() => void agent.comeUp(), 300);
    expect(finalText(await events)).toBe('ok');
    expect(agent.sends).toHaveLength(1);
  });

  it('gives an agent that was only just called a moment to tell of its Task before it is canceled', async () => {
    agent.options.streaming = true;
    agent.always({ delay: 100, then: holds() });
    holdTimeouts();
    const abort = new AbortController();
    const played = play(turn('x', { signal: abort.signal }));
    await agent.sent();
    abort.abort(new TaskCanceled());
    await played.finally(() => jest.useRealTimers());
    expect(agent.taskIds()).toHaveLength(1);
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it('waits while the remote waits, and sends the next Message down to the same remote Task', async () => {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'), answers('thanks'));
    const first = await play(turn('book'));
    expect(outline(first)).toEqual(['working', 'working', 'input_required']);
    expect(finalText(first)).toBe('which?');
    const second = await play(
      turn('the red one', { task: taskWith('book', 'which?'), readTaskLog: async () => first }),
    );
    expect(outline(second)).toEqual(['working', 'artifact', 'completed']);
    expect(artifactParts(second)).toEqual([{ text: 'thanks', mediaType: 'text/plain' }]);
    expect(agent.sends[1]?.message).toMatchObject({ taskId: agent.taskIds()[0], parts: [{ text: 'the red one' }] });
  });

  it('cancels the remote Task where the call of the answer to it fails', async () => {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'), { rpcError: { code: -32000, message: 'not now' } });
    const first = await play(turn('book'));
    const second = await play(
      turn('the red one', { task: taskWith('book', 'which?'), readTaskLog: async () => first }),
    );
    expect(outline(second).at(-1)).toBe('failed');
    expect(agent.cancels).toEqual([agent.taskIds()[0]]);
  });

  it.each([true, false])('cancels the remote Task whose question the Task refuses: %s', async (isRefused) => {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
    const events: NodeEvent[] = [];
    for await (const event of type.createExecutor(node()).execute(turn('book', { isRefused: () => isRefused }))) {
      events.push(event as NodeEvent);
      if (outline(events).at(-1) === 'input_required') break;
    }
    expect(agent.cancels).toEqual(isRefused ? agent.taskIds() : []);
  });

  it('follows the remote Task after a crash instead of sending again', async () => {
    const before = await play(turn('x'));
    const recorded = before.slice(0, 2);
    const events = await play(turn('x', { recovered: 2, readTaskLog: async () => recorded }));
    expect(outline(events)).toEqual(['artifact', 'completed']);
    expect(agent.sends).toHaveLength(1);
  });

  it('sends the same Message again after a crash where no remote Task was seen', async () => {
    const context = turn('x');
    await play(context);
    await play({ ...context, recovered: 1, readTaskLog: async () => [statusUpdate(context, 'TASK_STATE_WORKING')] });
    expect(new Set(agent.sends.map(({ message }) => message?.messageId)).size).toBe(1);
    expect(agent.sends).toHaveLength(2);
  });

  it('has what is left of its time after a crash', async () => {
    const context = turn('x');
    const opening = { ...statusUpdate(context, 'TASK_STATE_WORKING'), received: context.userMessage };
    opening.statusUpdate.status.timestamp = new Date(Date.now() - 1_800_000).toISOString();
    const log = [opening, statusUpdate(context, 'TASK_STATE_WORKING')];
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await play({ ...context, recovered: 1, readTaskLog: async () => log }, { timeout: 3_600 });
    const [time] = timers.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms > 900_000);
    timers.mockRestore();
    expect(time).toBeLessThanOrEqual(1_800_000);
  });

  it('passes a cancel on to the remote, and not a shutdown', async () => {
    agent.options.streaming = true;
    agent.always(holds());
    for (const reason of [new TaskCanceled(), new Error('shutdown')]) {
      const abort = new AbortController();
      const events = type
        .createExecutor(node())
        .execute(turn('x', { signal: abort.signal }))
        [Symbol.asyncIterator]();
      await events.next();
      await events.next();
      const rest = events.next();
      abort.abort(reason);
      if (reason instanceof TaskCanceled) await expect(rest).resolves.toMatchObject({ done: true });
      else await expect(rest).rejects.toBe(reason);
    }
    expect(agent.cancels).toEqual([agent.taskIds()[0]]);
  });

  it('cancels the remote Task of a Task that waits', async () => {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
    const log: NodeEvent[] = await play(turn('book'));
    const signal = AbortSignal.abort(new TaskCanceled());
    await play(turn('book', { task: taskWith('book', 'which?'), readTaskLog: async () => log, signal }));
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it('adds its call to the chain, and refuses a Message that the remote itself was called for', async () => {
    const context = turn('x');
    await play(context);
    const message = agent.sends[0]?.message;
    expect(keptChain(message?.metadata)).toMatchObject([{ task: context.taskId, callee: agent.url }]);
    const again = { message: { ...context.userMessage, metadata: message?.metadata ?? {} } };
    expect(() => type.createExecutor(node()).checkRequest?.(again, context.call)).toThrow('LOOP_DETECTED');
    expect(() =>
      type.createExecutor(node()).checkRequest?.({ message: context.userMessage }, context.call),
    ).not.toThrow();
    expect(type.createExecutor(node()).taskMetadata?.(again, context.call)).toEqual(message?.metadata);
  });

  it('sends an agent of the protocol that its config names the text at once, and data beside it', async () => {
    const old = await Pre10Agent.start({ answer: laxly });
    const config = { endpoint_url: old.url, protocol: 'founding' };
    expect(artifactParts(await play(turn([{ text: 'hello' }, { data: { n: 1 } }]), config))).toMatchObject([
      { text: 'hello' },
    ]);
    expect(type.findProblems(node(config))).toEqual([]);
    await old.stop();
    expect(old.methods).toEqual(['a2a.sendMessage']);
    const { parts } = old.requests[0]?.params.message as JsonObject;
    expect(parts).toMatchObject([{ type: 'text' }, { type: 'data', data: { n: 1 } }]);
  });

  it('tells an AgentCallError from a defect', async () => {
    const refusing = {
      resolveClient: async () => Promise.reject(new AgentCallError('refused', 'the address may not be called')),
      resolveCard: async () => undefined,
      pinnedCard: async () => undefined,
    };
    const broken = new ExternalNode(refusing, chains);
    const events = await played(broken.createExecutor(node()), turn('x'));
    expect(finalText(events)).toBe(`Error: external agent call to ${agent.url}: the address may not be called`);
  });
});
