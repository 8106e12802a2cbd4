import fc from 'fast-check';
import type { JsonObject, Part } from '#libs/protocol';
import { sendTask } from '../support/a2a.js';
import { Talks } from '../support/conversation.js';
import { answers, answersParts } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { JsonRpcError, type StrictAnswer, StrictPre10Server } from '../support/strict-pre-1-0-server.js';
import { webUrls } from '../support/web-urls.js';
import { declaring, external, linear, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((it) => !it.includes('\0'));
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((it) => JSON.parse(JSON.stringify(it)))
  .filter(storable);
const content = fc.oneof(
  words.map((text) => ({ text })),
  fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => ({ raw: Buffer.from(bytes).toString('base64') })),
  webUrls().map((url) => ({ url })),
  json.map((data) => ({ data })),
);
const part = fc
  .tuple(
    content,
    fc.record(
      {
        filename: words,
        mediaType: fc.constantFrom('text/plain', 'application/json'),
        metadata: fc.dictionary(words, words),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([one, fields]) => ({ ...one, ...fields }) as Part)
  .filter(({ metadata }) => metadata === undefined || storable(metadata));

/** What JSON can carry and PostgreSQL's jsonb and JavaScript's prototypes leave alone. */
function storable(value: unknown): boolean {
  const text = JSON.stringify(value);
  return !/\\u0000|\\ud[89a-f]|__proto__/i.test(text);
}

describe('rows B: the client and the shapes', () => {
  it('B2 {{n}} of an Artifact [data, text] is the text, not the data', async () => {
    const [first, second] = await Promise.all([stage.fake(), stage.fake()]);
    first.always(answersParts({ data: { key: 'val' } }, { text: 'the text' }));
    const run = await stage.api.finish(
      linear(unique('b2'), external('n', first.url), external('after', second.url, { prompt: 'got {{n}}' })),
    );
    expect(run.status).toBe('completed');
    expect(second.texts).toEqual(['got the text']);
  });

  it('B5 Parts of every kind pass through an echoing agent without a loss', async () => {
    const name = unique('b5');
    await stage.api.save(
      linear(name, declaring('echo', { inputModes: ['*/*'] }, { echo: true }, { complete: 'done' })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
        const task = await sendTask(stage.api.base(name, 'echo'), parts);
        expect(task.artifacts?.[0]?.parts).toEqual(parts);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('B6 an agent of A2A 1.0 is called with SendMessage, the accepted output modes, and the wish to hear of its Task at once', async () => {
    const fake = await stage.fake();
    fake.always(answers('fine'));
    await stage.api.finish(linear(unique('b6'), external('one', fake.url), external('two', fake.url)));
    expect(fake.sends).toHaveLength(2);
    for (const call of fake.sends) {
      expect(call.headers['content-type']).toMatch(/^application\/(a2a\+)?json/);
      expect(call.headers['a2a-version']).toBe('1.0');
      expect(call.body).toMatchObject({ jsonrpc: '2.0', id: expect.anything(), method: 'SendMessage' });
      const configuration = (call.body?.params as JsonObject).configuration as JsonObject;
      expect(configuration.acceptedOutputModes).toEqual(['text/plain', 'application/json']);
      expect(configuration.returnImmediately).toBe(true);
      expect(call.message).toMatchObject({ role: 'ROLE_USER', messageId: expect.any(String) });
    }
    expect(new Set(fake.sends.map(({ message }) => message?.messageId)).size).toBe(2);
  });

  it('B7 a JSON-RPC error becomes `a2a error <code>: <message>`', async () => {
    const fake = await stage.fake();
    fake.always({ rpcError: { code: -32000, message: 'test error' } });
    const run = await stage.api.finish(linear(unique('b7'), external('x', fake.url)));
    expect(run.status).toBe('failed');
    expect(run.error?.node).toBe('x');
    expect(run.error?.message).toContain('a2a error -32000: test error');
    expect(fake.sends).toHaveLength(1);
  });

  it('B8 an agent that cannot be reached fails the run: no hang, no success', async () => {
    const run = await stage.api.finish(linear(unique('b8'), external('x', 'http://localhost:1', { timeout: 1 })));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain('external agent call to http://localhost:1: ');
    expect(run.nodes.x?.status).toBe('failed');
  });

  it('B8 an agent that drops the connection fails the run', async () => {
    const fake = await stage.fake();
    fake.always({ steps: [{ cut: true }, { hold: true }] });
    const run = await stage.api.finish(linear(unique('b8'), external('x', fake.url)));
    expect(run.status).toBe('failed');
  });

  it('B8 an answer that is not A2A fails the run', async () => {
    const fake = await stage.fake();
    fake.always({ body: '<html>It works!</html>', contentType: 'text/html' });
    const run = await stage.api.finish(linear(unique('b8'), external('x', fake.url)));
    expect(run.status).toBe('failed');
    expect(textOf(run.nodes.x?.artifacts)).toBeUndefined();
  });
});

describe('a strict server from before A2A 1.0', () => {
  async function server(hasCard: boolean, answer?: (text: string) => StrictAnswer): Promise<StrictPre10Server> {
    const made = await StrictPre10Server.start({ hasCard, ...(answer && { answer }) });
    stage.defer(() => made.stop());
    return made;
  }

  it.each([
    ['with a card', true, ['a message with an id']],
    ['without a card', false, ['a method of 1.0', 'a message with an id']],
  ])(
    '%s executes nodes of a workflow, and is asked in its own form from the second call on',
    async (_how, hasCard, tried) => {
      const agent = await server(hasCard);
      const run = await stage.api.finish(
        linear(
          unique('strict'),
          external('one', agent.url, { prompt: 'hello' }),
          external('two', agent.url, { data: { n: 1 } }),
        ),
      );
      expect([run.status, textOf(run.nodes.one?.artifacts), textOf(run.nodes.two?.artifacts)]).toEqual([
        'completed',
        '<hello>',
        '<<hello>>',
      ]);
      expect(agent.accepted).toEqual([{ text: 'hello' }, { text: '<hello>', data: { n: 1 } }]);
      expect(agent.refused).toHaveLength(tried.length);
    },
  );

  it('asks, fails and reports errors in a run; its Task cannot be canceled', async () => {
    const agent = await server(true, (text) => {
      if (text === 'break') throw new JsonRpcError(-32000, 'test error');
      if (text === 'ask') return { status: 'input-required', text: 'Which?' };
      return text === 'fail' ? { status: 'failed', text: 'no paper' } : { status: 'completed', text: `<${text}>` };
    });
    const workflow = (prompt: string) => linear(unique('strict'), external('x', agent.url, { prompt }));
    expect((await stage.api.finish(workflow('break'))).error?.message).toContain('a2a error -32000: test error');
    expect(await stage.api.finish(workflow('fail'))).toMatchObject({
      status: 'failed',
      error: { node: 'x', message: expect.stringContaining('failed') },
    });
    const asking = await stage.api.save(workflow('ask'));
    const waiting = await stage.api.start(asking.name);
    await stage.api.reached(waiting, ['input-required']);
    const parts = [{ text: 'red' }];
    expect((await stage.api.call('POST', `/runs/${waiting}/answers`, { node: 'x', parts })).status).toBe(202);
    expect(textOf((await stage.api.ended(waiting)).nodes.x?.artifacts)).toBe('<red>');
    expect(agent.accepted.at(-1)).toEqual({ text: 'red', taskId: expect.stringMatching(/^task-/) });
    const canceled = await stage.api.start(asking.name);
    await stage.api.reached(canceled, ['input-required']);
    const { body } = await stage.api.call<{ children: JsonObject[] }>('POST', `/runs/${canceled}/cancel`);
    expect(body.children).toMatchObject([{ node: 'x', outcome: 'refused' }]);
    expect(agent.accepted).toHaveLength(5);
  });

  it('holds a conversation, as the requester and as the target', async () => {
    const [requester, target] = [await server(false), await server(true)];
    const frames = await new Talks(stage.api).play({
      requester: requester.url,
      target: target.url,
      message: 'hello',
      maxTurns: 2,
    });
    expect(frames.map(({ data }) => data.text ?? data.phase)).toEqual([
      'hello',
      '<hello>',
      '<<hello>>',
      '<<<hello>>>',
      'complete',
    ]);
    expect([requester.accepted, target.accepted]).toEqual([
      [{ text: '<hello>' }],
      [{ text: 'hello' }, { text: '<<hello>>' }],
    ]);
  });
});
