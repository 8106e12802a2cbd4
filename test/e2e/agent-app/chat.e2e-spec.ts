import { FakeAgent } from '../../support/fake-agent.js';
import { answers, ends, type FakeStep } from '../../support/fake-behaviour.js';
import { until } from '../../support/until.js';
import { ChatProcess } from './chat-process.js';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end();
});

function chat(...args: string[]): ChatProcess {
  const process = ChatProcess.spawn(...args);
  cleanups.push(() => process.kill());
  return process;
}

describe('npm run chat', () => {
  it.each([true, false])(
    'I1, I6, I7 sends one Message with the ids of the last response, and of an ended Task only the context (streaming: %s)',
    async (streaming) => {
      const fake = await FakeAgent.start({ name: 'waiter', streaming });
      cleanups.push(() => fake.stop());
      fake.next(ends('TASK_STATE_INPUT_REQUIRED', 'Which size?'), ends('TASK_STATE_COMPLETED', 'Done'));
      const client = chat(fake.url);
      expect(await client.say('a tea')).toBe('Which size?');
      expect(await client.say('large')).toBe('Done [completed]');
      fake.always({ message: [{ text: 'hello again' }] });
      expect(await client.say('hello')).toBe('hello again');
      const [first, second, third] = fake.sends.map(({ message }) => message);
      expect([first?.taskId, first?.contextId]).toEqual([undefined, undefined]);
      expect(second).toMatchObject({ taskId: fake.taskIds()[0] });
      expect(second?.contextId).toEqual(expect.any(String));
      expect([third?.taskId, third?.contextId]).toEqual([undefined, second?.contextId]);
      expect(fake.sends.every(({ message }) => message?.parts.length === 1)).toBe(true);
      expect(await client.end()).toBe(0);
    },
  );

  it('I9 /new forgets the ids, a refusal does not, and /quit ends', async () => {
    const fake = await FakeAgent.start();
    cleanups.push(() => fake.stop());
    fake.next(ends('TASK_STATE_INPUT_REQUIRED', 'What?'), { rpcError: { code: -32000, message: 'not now' } });
    fake.always(answers('fine'));
    const client = chat(fake.url);
    await client.say('one');
    expect(await client.say('two')).toContain('not now');
    expect(fake.sends[1]?.message?.taskId).toBe(fake.taskIds()[0]);
    client.type('/new');
    await client.say('three');
    const { taskId, contextId } = fake.sends[2]?.message ?? {};
    expect([taskId, contextId]).toEqual([undefined, undefined]);
    client.type('/quit');
    expect(await client.ended()).toBe(0);
  });

  it('shows an answer while it grows, and once', async () => {
    const fake = await FakeAgent.start({ name: 'teller', streaming: true });
    cleanups.push(() => fake.stop());
    const chunk = (text: string, append: boolean): FakeStep => ({
      artifact: { artifactId: 'tale', parts: [{ text }] },
      append,
    });
    const end: FakeStep = { status: 'TASK_STATE_COMPLETED', text: 'Once upon a time.' };
    fake.always({ steps: [chunk('Once ', false), chunk('upon', true), { hold: true }, chunk(' a time.', true), end] });
    const client = chat(fake.url);
    client.type('a tale');
    await until(() => client.output.includes('agent> Once upon'), { what: 'the beginning' });
    fake.release();
    expect(await client.end()).toBe(0);
    expect(client.output.match(/agent> .*/g)).toEqual(['agent> Once upon a time. [completed]']);
  });

  it('gives a program one JSON document a line', async () => {
    const fake = await FakeAgent.start();
    cleanups.push(() => fake.stop());
    fake.next(ends('TASK_STATE_INPUT_REQUIRED', 'What?'), { rpcError: { code: -32000, message: 'not now' } });
    const client = chat(fake.url, '--json');
    client.type('one');
    client.type('two');
    expect(await client.end()).toBe(0);
    const said = client.output.trim().split('\n');
    expect(said.map((line) => JSON.parse(line) as object)).toMatchObject([
      { text: 'What?', state: 'TASK_STATE_INPUT_REQUIRED', taskId: fake.taskIds()[0] },
      { error: { message: expect.stringContaining('not now') } },
    ]);
  });

  it('ends at Ctrl-C with 130, also while the agent thinks', async () => {
    const fake = await FakeAgent.start();
    cleanups.push(() => fake.stop());
    fake.always({ hang: true });
    const client = chat(fake.url);
    client.type('one');
    await until(() => fake.sends.length === 1, { what: 'the Message' });
    client.interrupt();
    expect(await client.ended()).toBe(130);
  });

  it('says how it is used, and that an agent cannot be reached', async () => {
    const bare = chat();
    expect(await bare.ended()).toBe(2);
    expect(bare.output).toContain("missing required argument 'agent'");
    expect(bare.output).toContain('Usage: parley chat [options] <agent>');
    const lost = chat('http://127.0.0.1:1');
    expect(await lost.ended()).toBe(1);
    expect(lost.output).toContain('cannot be called');
  });
});
