import { type ModelCall, ModelError, type ModelMessage } from '#libs/models';
import { failureNote } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { type Answering, says } from '../testing/fake-models.js';
import { agentWith, lastWord, NotedTools, payloads } from '../testing/noted-agent.js';
import type { TaskDriver } from '../testing/task-driver.js';
import { outline } from '../testing/turn.js';

const EARLIER: ModelMessage[] = [1, 2, 3, 4].flatMap((turn): ModelMessage[] => [
  { role: 'user', parts: [{ text: `question ${turn}` }] },
  { role: 'assistant', parts: [{ text: `answer ${turn}` }] },
]);

const memory = { recallMessages: async () => ({ taskIds: ['t1', 't2', 't3', 't4'], messages: EARLIER }) };

const textsOf = ({ messages }: ModelCall): string[] =>
  messages.flatMap((it) => ('parts' in it ? [it.parts[0]?.text ?? ''] : []));

/** Answers if a call has at most `most` messages, and reports an overflow of the context otherwise. */
const withRoomFor =
  (most: number): Answering =>
  (call) => {
    if (call.messages.length <= most) return says('here');
    throw new ModelError('HTTP 400: context size', { status: 400, fallback: true, isOverflow: true });
  };

const agent = (answer: Answering, config = {}) => agentWith(new NotedTools(), answer, config, memory);

const noteOf = (driver: TaskDriver): unknown => payloads(driver, 'model.response')[0]?.['note'];

describe('an agent whose memory exceeds the context of its model', () => {
  it('is called again without the older half of it, as often as needed, and notes it', async () => {
    const { driver, models } = agent(withRoomFor(3));
    await driver.run();
    expect(lastWord(driver)).toBe('here');
    expect(models.calls.map(({ call }) => textsOf(call))).toEqual([
      [...EARLIER.map((it) => ('parts' in it ? it.parts[0]?.text : '')), 'go'],
      ['question 3', 'answer 3', 'question 4', 'answer 4', 'go'],
      ['question 4', 'answer 4', 'go'],
    ]);
    expect(payloads(driver, 'model.request')).toEqual([
      { model: 'default-model', step: 1 },
      { model: 'default-model', step: 1, omitted: 4 },
      { model: 'default-model', step: 1, omitted: 6 },
    ]);
    const again = { model: 'default-model', step: 1, status: 400, message: 'HTTP 400: context size' };
    expect(payloads(driver, 'model.error')).toEqual([again, again].map((it) => ({ ...it, next: 'default-model' })));
    expect(noteOf(driver)).toBe(
      'answered without the 6 oldest messages of its memory: its context has no room for them',
    );
  });

  it('fails where there is no room without any memory either', async () => {
    const { driver, models } = agent(withRoomFor(0));
    await driver.run();
    expect([driver.state, lastWord(driver)]).toEqual(['failed', 'Error: HTTP 400: context size']);
    expect(models.calls.map(({ call }) => call.messages.length)).toEqual([9, 5, 3, 1]);
  });

  it('calls its other models first', async () => {
    const { driver, models } = agent(withRoomFor(5), { model: 'first', fallbacks: ['second'] });
    await driver.run();
    expect(models.calls.map(({ model, call }) => [model, call.messages.length])).toEqual([
      ['first', 9],
      ['second', 9],
      ['second', 5],
    ]);
  });

  it('omits the same messages after a crash', async () => {
    for (let at = 2; at <= 6; at += 1) {
      const { driver, models } = agent(withRoomFor(5));
      await driver.run(at);
      await driver.run();
      const last = outline(driver.log.slice(1) as NodeEvent[]).at(-1);
      expect({ at, last, answer: lastWord(driver) }).toEqual({ at, last: 'completed', answer: 'here' });
      expect(models.calls.at(-1)?.call.messages).toHaveLength(5);
    }
  });

  it('omits no message for any other failure', async () => {
    const { driver, models } = agent(() => {
      throw new ModelError('HTTP 400', { status: 400 });
    });
    await driver.run();
    expect([driver.state, models.calls.length]).toEqual(['failed', 1]);
  });
});

describe('an answer that is cut', () => {
  const cut = (inputTokens: number, outputTokens: number, tokenLimit?: number) => {
    const usage = { inputTokens, outputTokens };
    return new ModelError('its answer was cut', { fallback: true, isTruncated: true, usage, tokenLimit });
  };
  const cutUnlessShort =
    (error: ModelError): Answering =>
    (call) => {
      if (call.messages.length <= 5) return says('here');
      throw error;
    };

  it('is asked for once without the older half of a memory that fills the context', async () => {
    const { driver, models } = agent(cutUnlessShort(cut(1_900, 148)));
    await driver.run();
    expect([lastWord(driver), models.calls.length]).toEqual(['here', 2]);
    expect(noteOf(driver)).toMatch(/without the 4 oldest messages/);
    const always = agent(() => {
      throw cut(1_900, 148);
    });
    await always.driver.run();
    expect([always.driver.state, always.models.calls.length]).toEqual(['failed', 2]);
  });

  it.each([
    ['reached the maxTokens of the node', { maxTokens: 148 }, cut(1_900, 148)],
    ['reached the limit of its model', {}, cut(1_900, 148, 148)],
    ['is longer than what was sent', {}, cut(100, 4_096)],
    ['spent the budget', { budget: { tokens: 2_000 } }, cut(1_900, 148)],
  ])('fails with the kind cut where it %s', async (_, config, error) => {
    const { driver, models } = agent(cutUnlessShort(error), config);
    await driver.run();
    expect([driver.state, models.calls.length]).toEqual(['failed', 1]);
    expect(failureNote(driver.task.status.message?.metadata)).toEqual({ kind: 'cut' });
  });
});
