import type { JsonObject, Part, Task } from '#libs/protocol';
import { firstText, getTask, outline, rpc, send, sendParams, sendTask, stream } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { declaring, external, linear, ruled, says as tells, script, unique } from '../support/workflow.js';

const stage = useSharedStage();

/** The base of a script node that answers with these steps. */
async function steps(...list: JsonObject[]): Promise<string> {
  const name = unique('script');
  await stage.api.save(linear(name, script('a', ...list)));
  return stage.api.base(name, 'a');
}

/** The base of a script node whose card says this. */
async function declared(agent: JsonObject, ...list: JsonObject[]): Promise<string> {
  const name = unique('declared');
  await stage.api.save(linear(name, declaring('a', agent, ...list)));
  return stage.api.base(name, 'a');
}

async function rules(list: JsonObject[], otherwise?: JsonObject[]): Promise<string> {
  const name = unique('rules');
  await stage.api.save(linear(name, ruled('a', list, otherwise)));
  return stage.api.base(name, 'a');
}

const says = (text: string): JsonObject[] => [{ complete: text }];
const words = async (base: string, text: string, fields = {}): Promise<string | undefined> =>
  (await sendTask(base, text, { fields })).status.message?.parts[0]?.text;

describe('the scripted agent: steps', () => {
  it('status, artifact, complete: every step is an event', async () => {
    const base = await steps(
      { status: 'working', text: 'thinking about {{text}}' },
      {
        artifact: {
          artifactId: 'r',
          name: 'report',
          parts: [{ text: 'about {{text}}' }, { data: { of: '{{text}}' } }],
        },
      },
      { artifact: { artifactId: 'r', append: true, lastChunk: true, parts: [{ text: 'more' }] } },
      { complete: 'told about {{text}}' },
    );
    const frames = await (await stream(base, 'cats')).all();
    expect(frames.map(({ data }) => outline(data.result))).toEqual([
      'task TASK_STATE_SUBMITTED',
      'status TASK_STATE_WORKING',
      'artifact about cats|{"of":"cats"}',
      'artifact more',
      'status TASK_STATE_COMPLETED',
    ]);
    expect(frames[3]?.data.result).toMatchObject({
      artifactUpdate: { append: true, lastChunk: true, artifact: { artifactId: 'r' } },
    });
    const task = await getTask(base, (frames[0]?.data.result as { task: { id: string } }).task.id);
    expect(task.artifacts).toEqual([
      { artifactId: 'r', name: 'report', parts: [{ text: 'about cats' }, { data: { of: 'cats' } }, { text: 'more' }] },
    ]);
    expect(task.status.message?.parts[0]?.text).toBe('told about cats');
  });

  it('an artifact without an id gets one; the same id without append replaces', async () => {
    const base = await steps(
      { artifact: { parts: [{ text: 'x' }] } },
      { artifact: { artifactId: 'r', parts: [{ text: 'old' }] } },
      { artifact: { artifactId: 'r', parts: [{ text: 'new' }] } },
      ...says('done'),
    );
    const task = await sendTask(base, 'go');
    expect(task.artifacts?.map(({ parts }) => parts[0]?.text)).toEqual(['x', 'new']);
    expect(task.artifacts?.[0]?.artifactId).toEqual(expect.stringMatching(/\S/));
  });

  it("echo is an Artifact with the Message's Parts", async () => {
    const parts = [{ text: 'a' }, { data: [1, { b: null }] }];
    expect((await sendTask(await steps({ echo: true }, ...says('done')), parts)).artifacts?.[0]?.parts).toEqual(parts);
    const files = [...parts, { url: 'https://example.com/x' }, { raw: 'aGk=', mediaType: 'image/png' }];
    const base = await declared({ inputModes: ['*/*'] }, { echo: true }, ...says('done'));
    expect((await sendTask(base, files)).artifacts?.[0]?.parts).toEqual(files);
  });

  it('sleep takes its time, and a cancel cuts it', async () => {
    const base = await steps({ status: 'working' }, { sleep: 300 }, ...says('done'));
    const from = performance.now();
    await sendTask(base, 'go');
    expect(performance.now() - from).toBeGreaterThanOrEqual(290);
    const long = await steps({ status: 'working' }, { sleep: 60_000 }, ...says('done'));
    const task = await sendTask(long, 'go', { configuration: { returnImmediately: true } });
    const { body } = await rpc(long, 'CancelTask', { id: task.id });
    expect(body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('reply is a direct Message and no Task', async () => {
    const base = await steps({ reply: [{ text: 'you said {{text}}' }, { data: { n: 1 } }] });
    expect(await send(base, 'hi')).toMatchObject({
      message: { role: 'ROLE_AGENT', parts: [{ text: 'you said hi' }, { data: { n: 1 } }] },
    });
  });

  it.each([
    ['ask', 'TASK_STATE_INPUT_REQUIRED'],
    ['authorize', 'TASK_STATE_AUTH_REQUIRED'],
    ['complete', 'TASK_STATE_COMPLETED'],
    ['fail', 'TASK_STATE_FAILED'],
    ['reject', 'TASK_STATE_REJECTED'],
  ])('%s ends the turn in %s with its words', async (step, state) => {
    const base = await steps({ [step]: 'because of {{text}}' }, { artifact: { parts: [{ text: 'never' }] } });
    const task = await sendTask(base, 'rain');
    expect(task.status.state).toBe(state);
    expect(task.status.message?.parts[0]?.text).toBe('because of rain');
    expect(task.artifacts ?? []).toEqual([]);
  });

  it('throw is an error of the protocol before there is a Task, and breaks the Task after that', async () => {
    const first = await steps({ throw: 'CONTENT_TYPE_NOT_SUPPORTED', text: 'no {{text}} here' });
    const { body } = await rpc(first, 'SendMessage', sendParams('pictures'));
    expect(body.error).toMatchObject({ code: -32005, message: 'no pictures here' });
    expect((await rpc(first, 'ListTasks', {})).body.result).toMatchObject({ tasks: [] });
    const internal = await rpc(await steps({ throw: 'INTERNAL' }), 'SendMessage', sendParams('x'));
    expect(internal.body.error).toMatchObject({ code: -32603, message: 'Internal error' });
    const later = await sendTask(await steps({ status: 'working' }, { throw: 'INTERNAL', text: 'a secret' }), 'go');
    expect(later.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: 'The agent failed to process the message.' }] },
    });
  });

  it('steps that end in nothing are FAILED', async () => {
    expect((await sendTask(await steps({ status: 'working' }), 'go')).status.state).toBe('TASK_STATE_FAILED');
  });
});

describe('the scripted agent: rules', () => {
  it('the first rule that matches runs; text is a regular expression; otherwise is the rest', async () => {
    const base = await rules(
      [
        { when: { text: '^hello' }, steps: says('greeting') },
        { when: { text: 'hello|bye' }, steps: says('word') },
        { when: { text: '^\\d{3}$' }, steps: says('number') },
      ],
      says('otherwise'),
    );
    expect(
      await Promise.all(['hello you', 'say hello', 'bye', '123', '1234'].map((text) => words(base, text))),
    ).toEqual(['greeting', 'word', 'word', 'number', 'otherwise']);
  });

  it('messageId is matched too, and all conditions of a rule must hold', async () => {
    const base = await rules(
      [
        { when: { messageId: '^m-\\d+$', text: 'x' }, steps: says('both') },
        { when: { messageId: '^m-' }, steps: says('id') },
      ],
      says('none'),
    );
    expect(await words(base, 'x', { messageId: 'm-1' })).toBe('both');
    expect(await words(base, 'y', { messageId: 'm-1' })).toBe('id');
    expect(await words(base, 'x', { messageId: 'n' })).toBe('none');
  });

  it('data is what the first data Part contains', async () => {
    const base = await rules(
      [
        { when: { data: { order: { size: 'L' }, tags: ['a'] } }, steps: says('large') },
        { when: { data: {} }, steps: says('an object') },
        { when: { data: null }, steps: says('null') },
      ],
      says('none'),
    );
    const said = async (...parts: Part[]) => (await sendTask(base, parts)).status.message?.parts[0]?.text;
    const order = { order: { size: 'L', milk: true }, tags: ['a'], name: 'Ada' };
    expect(await said({ text: 'please' }, { data: order })).toBe('large');
    expect(await said({ data: { ...order, tags: ['a', 'b'] } })).toBe('an object');
    expect(await said({ data: [] }, { data: order })).toBe('none');
    expect(await said({ data: null })).toBe('null');
    expect(await said({ text: 'x' })).toBe('none');
  });

  it('turn counts the turns of a Task, from 1', async () => {
    const base = await rules([
      { when: { turn: 1 }, steps: [{ ask: 'one?' }] },
      { when: { turn: 2 }, steps: [{ ask: 'two?' }] },
      { when: { turn: 3 }, steps: says('three') },
    ]);
    const first = await sendTask(base, 'a');
    const second = await sendTask(base, 'b', { fields: { taskId: first.id } });
    const third = await sendTask(base, 'c', { fields: { taskId: first.id } });
    expect([first, second, third].map(({ status }) => status.message?.parts[0]?.text)).toEqual([
      'one?',
      'two?',
      'three',
    ]);
    expect(await words(base, 'again')).toBe('one?');
  });

  it('text without a match group is what the incoming text is, and is not read again', async () => {
    expect(
      firstText(
        await sendTask(
          await steps({ artifact: { parts: [{ text: '<{{text}}> {{other}}' }] } }, ...says('done')),
          '{{text}} $&',
        ),
      ),
    ).toBe('<{{text}} $&> {{other}}');
  });

  it('a regular expression that explodes elsewhere takes linear time here', async () => {
    const base = await rules([{ when: { text: '^(a+)+$' }, steps: says('matched') }], says('not'));
    // One that backtracks would never answer.
    expect(await words(base, `${'a'.repeat(50_000)}!`)).toBe('not');
  });

  it.each<[string, unknown]>([
    ['a regular expression that is none', { rules: [{ when: { text: '(' }, steps: says('x') }], otherwise: [] }],
    ['an unknown step', { rules: [], otherwise: [{ dance: true }] }],
    ['a step with two keys', { rules: [], otherwise: [{ complete: 'x', fail: 'y' }] }],
    ['a sleep of words', { rules: [], otherwise: [{ sleep: 'long' }] }],
    ['rules that are words', { rules: 'hello', otherwise: [] }],
    ['an error that is none', { otherwise: [{ throw: 'OUCH' }] }],
    ['an agent that is words', { agent: 'echo', otherwise: [] }],
    ['a mode that is no media type', { agent: { inputModes: ['script'] }, otherwise: [] }],
    ['no script', undefined],
  ])('%s is refused at save with 422', async (_what, value) => {
    const reply = await stage.api.call(
      'POST',
      '/workflows',
      linear(unique('bad'), {
        id: 'a',
        type: 'script',
        config: (value === undefined ? {} : { script: value }) as JsonObject,
      }),
    );
    expect(reply.status).toBe(422);
    expect(reply.text).toMatch(/script|step|rule|sleep|regular/i);
  });
});

describe('the scripted agent: what it declares', () => {
  it('stands in its card', async () => {
    const extension = { uri: 'https://example.com/x/v1', description: 'X', required: true, params: { a: [1] } };
    const modes = { inputModes: ['image/png'], outputModes: ['text/csv'] };
    const agent = { ...modes, streaming: false, pushNotifications: false, extensions: [extension] };
    const base = await declared(agent, ...says('done'));
    const usual = await (await fetch(`${await steps(...says('done'))}/.well-known/agent-card.json`)).json();
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as JsonObject;
    expect(card).toMatchObject({
      defaultInputModes: modes.inputModes,
      defaultOutputModes: modes.outputModes,
      skills: [modes],
      capabilities: { streaming: false, pushNotifications: false },
    });
    expect((card.capabilities as { extensions: unknown[] }).extensions).toContainEqual(extension);
    expect(usual).toMatchObject({
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      capabilities: { streaming: true, pushNotifications: true },
    });
  });

  it('is true of runs too: a workflow calls an agent that does not stream', async () => {
    const name = unique('quiet');
    await stage.api.save(linear(name, declaring('a', { streaming: false, pushNotifications: false }, ...tells('hi'))));
    expect(firstText(await sendTask(stage.api.base(name), 'go'))).toBe('hi');
  });
});

describe('the agents of nodes', () => {
  const CALLER = 'parley/caller-message-id';

  it("see the id of the caller's Message in the metadata of theirs", async () => {
    const fake = await stage.fake();
    const name = unique('seen');
    const asks = ruled('asks', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }], tells('thanks'));
    await stage.api.save(linear(name, asks, external('far', fake.url), script('last', ...tells('done'))));
    const base = stage.api.base(name);
    const asked = await sendTask(base, 'go', { fields: { messageId: 'first-of-the-caller' } });
    await sendTask(base, 'yes', { fields: { messageId: 'second-of-the-caller', taskId: asked.id } });
    const seen = async (node: string): Promise<unknown[]> => {
      const { body } = await rpc<{ tasks: Task[] }>(stage.api.base(name, node), 'ListTasks', {});
      const history = body.result?.tasks[0]?.history ?? [];
      return history.flatMap(({ role, metadata }) => (role === 'ROLE_USER' ? [metadata?.[CALLER]] : []));
    };
    expect(await seen('asks')).toEqual(['first-of-the-caller', 'second-of-the-caller']);
    expect(await seen('last')).toEqual(['first-of-the-caller']);
    expect(JSON.stringify(fake.calls)).toContain(`"${CALLER}":"first-of-the-caller"`);
  });
});
