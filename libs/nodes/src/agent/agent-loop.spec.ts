import type { ModelCall, ModelEvent } from '#libs/models';
import type { NodeEvent } from '../node-executor.js';
import { asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, notedAgent, NotedTools, payloads } from '../testing/noted-agent.js';
import type { TaskDriver } from '../testing/task-driver.js';
import { outline } from '../testing/turn.js';

/** Fake model: requests two tool calls in each of five steps, then answers with all results. */
function fiveSteps(call: ModelCall): ModelEvent[] {
  const results = call.messages.flatMap((it) => (it.role === 'tool' ? it.results : []));
  const done = results.length / 2;
  if (done === 5) return says(results.map(({ result, error }) => JSON.stringify(result ?? error)).join(';'));
  return asks(call, ['look', { at: `${done}` }], ['write', { what: `${done}` }]);
}

const steps = (driver: TaskDriver): string[] => outline(driver.log.slice(1) as NodeEvent[]);

describe('the loop of an agent', () => {
  it('calls the model, then what it asks for, one step after the other, each recorded', async () => {
    const { driver, models, tools } = notedAgent(fiveSteps);
    await driver.run();
    expect(steps(driver).slice(0, 8)).toEqual([
      'working',
      'model.request',
      'model.response',
      'tool.call',
      'tool.result',
      'tool.call',
      'tool.result',
      'model.request',
    ]);
    expect(steps(driver).slice(-4)).toEqual(['model.request', 'artifact', 'model.response', 'completed']);
    expect(models.calls).toHaveLength(6);
    expect(tools.made).toHaveLength(10);
    const calls = ['look', 'write'].map((tool, index) => ({
      tool,
      id: `c${index}`,
      args: { [index === 0 ? 'at' : 'what']: '0' },
    }));
    expect(payloads(driver, 'model.request')[0]).toEqual({ model: 'default-model', step: 1 });
    const usage = { inputTokens: 2, outputTokens: 1 };
    expect(payloads(driver, 'model.response')[0]).toEqual({ model: 'default-model', step: 1, usage, toolCalls: calls });
    expect(payloads(driver, 'model.response').at(-1)).toEqual({ model: 'default-model', step: 6, usage });
    expect(payloads(driver, 'tool.call')[1]).toEqual({ ...calls[1], step: 1 });
    expect(payloads(driver, 'tool.result')[1]).toEqual({ tool: 'write', id: 'c1', result: 'write done' });
    expect(lastWord(driver)).toContain('"look done";"write done"');
  });

  it('names what it remembers with the first request, and remembers that again after a crash', async () => {
    const asked: (readonly string[] | undefined)[] = [];
    const memory = {
      recallMessages: async (_context: unknown, _settings: unknown, noted?: readonly string[]) => {
        asked.push(noted);
        const taskIds = noted ?? ['one', 'two'];
        return { taskIds, messages: taskIds.map((text) => ({ role: 'user' as const, parts: [{ text }] })) };
      },
    };
    const { driver, models } = agentWith(new NotedTools(), fiveSteps, { tools: ['look', 'write'] }, memory);
    await driver.run(6);
    await driver.run();
    expect(asked).toEqual([undefined, ['one', 'two']]);
    const named = driver.log.map((event) => 'statusUpdate' in event && event.statusUpdate.metadata);
    expect(named.filter((metadata) => metadata && 'parley/remembered' in metadata)).toEqual([
      expect.objectContaining({ 'parley/remembered': ['one', 'two'] }),
    ]);
    const beginnings = models.calls.map(({ call }) => call.messages.slice(0, 2));
    for (const messages of beginnings)
      expect(messages).toMatchObject([{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }]);
  });

  const whole = async (): Promise<{ text: unknown; events: number }> => {
    const { driver } = notedAgent(fiveSteps);
    await driver.run();
    return { text: lastWord(driver), events: driver.log.length };
  };

  it.each(['everything is durable at once', 'only what is waited for is durable'])(
    'killed after every event, it repeats nothing that was answered (%s)',
    async (how) => {
      const { text, events } = await whole();
      for (let at = 1; at < events; at += 1) {
        const { driver, tools, models } = notedAgent(fiveSteps);
        await driver.run(at, how.startsWith('only'));
        const cut = driver.log.at(-1);
        await driver.run();
        const wasWrite = payloads(driver, 'tool.call').length > 0 && isCallOf(cut, 'write');
        if (driver.state === 'input_required') {
          expect({ at, wasWrite }).toEqual({ at, wasWrite: true });
          driver.answer('yes');
          await driver.run();
        }
        const repeated = tools.made.filter((it, index) => tools.made.indexOf(it) !== index);
        const isCut = isCallOf(cut, 'look') || isCallOf(cut, 'write');
        expect({ at, text: lastWord(driver) }).toEqual({ at, text });
        expect({ at, repeated: repeated.length > (isCut ? 1 : 0) && repeated }).toEqual({ at, repeated: false });
        expect(models.calls.length).toBeLessThanOrEqual(7);
        expect(new Set(tools.made).size).toBe(10);
      }
    },
  );
});

function isCallOf(event: unknown, tool: string): boolean {
  const text = JSON.stringify(event ?? null);
  return text.includes('"tool.call"') && text.includes(`"${tool}"`);
}
