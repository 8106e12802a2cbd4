import type { NodeEvent } from '../node-executor.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { lastWord, notedAgent, payloads } from '../testing/noted-agent.js';
import { outline } from '../testing/turn.js';
import { truncateResult } from './agent-tools.js';

/** Returns a model that calls a tool once, and then answers with the result. */
const once =
  (tool: string): Answering =>
  (call) => {
    const last = call.messages.at(-1);
    if (last?.role !== 'tool') return asks(call, [tool, { to: 'you' }]);
    const [result] = last.results;
    return says(`${JSON.stringify(result?.result) ?? ''}${result?.error ?? ''}`);
  };

const ended = (driver: { log: unknown[] }): string[] => outline(driver.log.slice(1) as NodeEvent[]).slice(-3);

describe('a call that somebody is asked about', () => {
  it.each(['yes', ' Yes', [{ data: { decision: 'yes' } }]])('is made after %j', async (answer) => {
    const { driver, tools } = notedAgent(once('write'), { approve: ['write'] });
    await driver.run();
    expect(driver.state).toBe('input_required');
    expect(tools.made).toEqual([]);
    expect(driver.task.status.message?.parts).toEqual([
      {
        text: 'May the tool "write" be called with {"to":"you"}? Answer yes or no.',
        mediaType: 'text/plain',
      },
      { data: { tool: 'write', args: { to: 'you' } }, mediaType: 'application/json' },
    ]);
    driver.answer(answer);
    await driver.run();
    expect(tools.made).toEqual(['write {"to":"you"}']);
    expect(lastWord(driver)).toBe('"write done"');
  });

  it('is not made after a no, which is its result', async () => {
    const { driver, tools } = notedAgent(once('write'), { approve: ['wr*'] });
    await driver.run();
    driver.answer([{ data: { decision: 'no' } }]);
    await driver.run();
    expect(tools.made).toEqual([]);
    const error = 'the call was not approved';
    expect(payloads(driver, 'tool.result')).toEqual([{ tool: 'write', id: 'c0', error }]);
    expect(lastWord(driver)).toBe(error);
  });

  it('is asked about again after an answer that is none', async () => {
    const { driver, tools } = notedAgent(once('write'), { approve: ['write'] });
    await driver.run();
    driver.answer('perhaps');
    await driver.run();
    expect(driver.state).toBe('input_required');
    expect(lastWord(driver)).toMatch(/^The answer has to be yes or no\. May the tool/);
    driver.answer('yes');
    await driver.run();
    expect(tools.made).toHaveLength(1);
  });

  it('is one of several: one question at a time, and a crash asks none of them twice', async () => {
    const two: Answering = (call) =>
      call.messages.some(({ role }) => role === 'tool')
        ? says('done')
        : asks(call, ['write', { n: '1' }], ['write', { n: '2' }]);
    const { driver, tools } = notedAgent(two, { approve: ['write'] });
    await driver.run();
    driver.answer('yes');
    await driver.run(driver.log.length);
    await driver.run(driver.log.length + 2);
    expect(tools.made).toEqual(['write {"n":"1"}']);
    await driver.run();
    expect(lastWord(driver)).toContain('{"n":"2"}');
    driver.answer('no');
    await driver.run();
    expect(tools.made).toHaveLength(1);
    expect(lastWord(driver)).toBe('done');
  });

  it('is asked about where its server wants it', async () => {
    const { driver } = notedAgent(once('careful__tool'), { tools: ['careful/tool'] });
    await driver.run();
    expect(lastWord(driver)).toContain('May the tool "careful/tool" be called');
  });
});

describe('a call that a crash cut off', () => {
  const cut = async (config: object, tool = 'write') => {
    const agent = notedAgent(once(tool), { ...config });
    // These are the Task, WORKING, the model's request and response, and the tool call, without its result.
    await agent.driver.run(5);
    expect(ended(agent.driver).at(-1)).toBe('tool.call');
    expect(agent.tools.made).toHaveLength(1);
    return agent;
  };

  it('is asked about; yes makes it again, which may be cut off again', async () => {
    const { driver, tools } = await cut({});
    await driver.run();
    expect(driver.state).toBe('input_required');
    expect(lastWord(driver)).toMatch(/^The call of the tool "write" with .* was cut off: .* Shall it be made again\?/);
    driver.answer('yes');
    await driver.run(driver.log.length + 1);
    expect(tools.made).toHaveLength(2);
    await driver.run();
    expect(driver.state).toBe('input_required');
    driver.answer('no');
    await driver.run();
    expect(tools.made).toHaveLength(2);
    expect(lastWord(driver)).toContain('it is not known whether it was made, and it was decided not to make it again');
  });

  it.each([
    ['fail', 1, 'Error: the call of the tool "write" was cut off: it is not known whether it was made'],
    ['repeat', 2, '"write done"'],
  ])('onUncertain: %s', async (onUncertain, made, answer) => {
    const { driver, tools } = await cut({ onUncertain });
    await driver.run();
    expect(tools.made).toHaveLength(made);
    expect(lastWord(driver)).toBe(answer);
  });

  it('is made once more where that does no harm, and asked about where it was cut off twice', async () => {
    const { driver, tools } = await cut({}, 'look');
    await driver.run(6);
    expect(tools.made).toHaveLength(2);
    await driver.run();
    expect(driver.state).toBe('input_required');
    expect(tools.made).toHaveLength(2);
  });
});

describe('the result of a call', () => {
  it('is an error for the model where there is no such tool, or no arguments', async () => {
    const unknown = notedAgent(once('dance'));
    await unknown.driver.run();
    expect(lastWord(unknown.driver)).toBe('there is no tool "dance"');
    const garbled: Answering = (call) =>
      call.messages.at(-1)?.role === 'tool'
        ? says('done')
        : [
            { toolCall: { id: 'c', name: 'write', args: {}, malformed: '{"a":' } },
            { end: { reason: 'tool-calls' as const } },
          ];
    const { driver, tools } = notedAgent(garbled);
    await driver.run();
    expect(tools.made).toEqual([]);
    expect(payloads(driver, 'tool.result')).toEqual([
      { tool: 'write', id: 'c', error: 'the arguments are not a JSON object' },
    ]);
  });

  it('is cut at 256 KiB', () => {
    const cut = truncateResult('ü'.repeat(10_000_000));
    expect(Buffer.byteLength(cut.result as string)).toBe(256 * 1024);
    expect(cut.truncated).toBe(true);
    expect(truncateResult(['x'.repeat(300_000)])).toMatchObject({
      result: expect.stringMatching(/^\["x{9}/),
      truncated: true,
    });
    expect(truncateResult({ a: 1 })).toEqual({ result: { a: 1 } });
  });

  it.each([
    ['replacement characters', '\uFFFD'.repeat(5_000_000)],
    ['replacement characters between letters', `${'\uFFFD'.repeat(40_000)}a`.repeat(50)],
    ['half characters', '\ud83d'.repeat(200_000)],
    ['whole characters of four bytes', `a${'😀'.repeat(100_000)}`],
  ])('is cut before the character that its limit goes through, where it holds %s', (_what, text) => {
    const { result, truncated } = truncateResult(text);
    const whole = Buffer.from(text);
    const kept = Buffer.from(result as string);
    expect(truncated).toBe(true);
    expect(kept.equals(whole.subarray(0, kept.length))).toBe(true);
    expect(kept.length).toBeGreaterThan(256 * 1024 - 4);
    expect(kept.length).toBeLessThanOrEqual(256 * 1024);
  });
});

describe('a call of a tool whose name on the wire another one would have', () => {
  const TOOLS = ['dots/item.delete', 'dots/item_delete', 'git/hub__push', 'git__hub/push'];
  /** Returns a fake model that finds a tool by its description, and calls it by its wire name. */
  const wanting =
    (tool: string): Answering =>
    (call, model) =>
      once(call.tools?.find(({ description }) => description === `The tool ${tool}`)?.name ?? '')(call, model);

  it.each(TOOLS)('is one of %s, also where a crash comes between', async (tool) => {
    for (const killAfter of [4, 5]) {
      const { driver, tools, models } = notedAgent(wanting(tool), { tools: TOOLS, onUncertain: 'repeat' });
      await driver.run(killAfter);
      await driver.run();
      expect(new Set(tools.made)).toEqual(new Set([`${tool} {"to":"you"}`]));
      expect(lastWord(driver)).toBe(`"${tool} done"`);
      const said = models.calls.at(-1)?.call;
      const names = said?.messages.flatMap((it) => ('toolCalls' in it ? it.toolCalls!.map(({ name }) => name) : []));
      expect(said?.tools?.filter(({ name }) => name === names?.[0])).toMatchObject([
        { description: `The tool ${tool}` },
      ]);
    }
  });

  it('is asked about where that tool is to be, and only there', async () => {
    const states = TOOLS.slice(0, 2).map(async (tool) => {
      const { driver } = notedAgent(wanting(tool), { tools: TOOLS, approve: ['dots/item.delete'] });
      await driver.run();
      return driver.state;
    });
    expect(await Promise.all(states)).toEqual(['input_required', 'completed']);
  });
});
