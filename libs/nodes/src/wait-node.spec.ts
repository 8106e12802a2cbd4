import type { NodeSpec } from '#libs/agents';
import { dataPart, type JsonObject, textPart } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { WaitNode } from './flow-nodes.js';
import { artifactParts, finalText, outline, played, turn } from './testing/turn.js';

const LONG_AGO = '2020-01-01T00:00:00Z';

const nodeOf = (config: JsonObject, language?: 2): NodeSpec => ({
  id: 'w',
  type: 'wait',
  config,
  of: { workflow: 'w', revision: '1', ...(language && { language }) },
});
const executorOf = (config: JsonObject, language?: 2) => new WaitNode().createExecutor(nodeOf(config, language));

function untilOf(events: readonly unknown[]): number {
  const note = JSON.stringify(events[1]);
  return Date.parse(/"until":"([^"]+)"/.exec(note)?.[1] ?? 'none');
}

describe('a wait node', () => {
  it('notes until when, waits, and says what it was told', async () => {
    const begun = Date.now();
    const events = await played(executorOf({ for: '20ms' }), turn([textPart('go on'), dataPart({ n: 1 })]));
    expect(outline(events)).toEqual(['working', 'node.waiting', 'artifact', 'completed']);
    expect(artifactParts(events)).toEqual([textPart('go on'), dataPart({ n: 1 })]);
    expect(untilOf(events)).toBeGreaterThanOrEqual(begun + 20);
    expect(Date.now()).toBeGreaterThanOrEqual(untilOf(events));
  });

  it.each<[string, JsonObject, Parameters<typeof turn>[0], 2?]>([
    ['a time that has passed', { until: `timestamp('${LONG_AGO}')` }, 'x'],
    ['a time of its Message', { until: 'timestamp(inputs.at)' }, [dataPart({ at: LONG_AGO })]],
    ['no time at all', { for: '0s' }, 'x'],
    ['a duration of its Message', { for: '{{text}}' }, '1ms'],
    ['a duration that is an expression', { for: '${inputs.n}ms' }, [dataPart({ n: 1 })], 2],
    ['a duration of the language', { for: "${duration('1s') - duration('1s')}" }, 'x', 2],
  ])('ends at once for %s', async (_, config, message, ...[language]) => {
    const events = await played(executorOf(config, language), turn(message));
    expect(outline(events).at(-1)).toBe('completed');
  });

  it('goes on after a crash until the time that it noted, not one of its own', async () => {
    const [working, waiting] = await played(executorOf({ for: '1ms' }), turn('x'));
    const log = [{}, working, waiting] as TaskEvent[];
    const events = await played(executorOf({ for: '300d' }), turn('x', { recovered: 2, readTaskLog: async () => log }));
    expect(outline(events)).toEqual(['artifact', 'completed']);
  });

  it('leaves what takes long to nobody until then', async () => {
    const events = executorOf({ for: '1h' }).execute(turn('x'))[Symbol.asyncIterator]();
    await events.next();
    const { value } = await events.next();
    expect(value).toHaveProperty('parks', new Date(untilOf([undefined, value])));
    const short = await played(executorOf({ for: '1ms' }), turn('x'));
    expect(short[1]).not.toHaveProperty('parks');
  });

  it('stops when its Task is canceled', async () => {
    const stop = new AbortController();
    const context = turn('x', { signal: stop.signal });
    const events = executorOf({ for: '364d' }).execute(context)[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    const next = events.next();
    stop.abort(new Error('canceled'));
    await expect(next).rejects.toThrow();
  });

  it.each<[string, JsonObject, string, 2?]>([
    ['the wait must not be longer than a year', { until: "now + duration('8761h')" }, 'x'],
    ['the wait must not be longer than a year', { for: '{{text}}' }, '366d'],
    ['for is not a duration: "soon"', { for: '{{text}}' }, 'soon'],
    ['for is not a duration: 5', { for: '${5}' }, 'x', 2],
    ['this is no timestamp', { until: '1 + 1' }, 'x'],
    ['this has no value here', { until: 'nodes.a.data.at' }, 'x'],
  ])('fails: %s', async (sentence, config, text, ...[language]) => {
    const events = await played(executorOf(config, language), turn(text));
    expect(outline(events)).toEqual(['working', 'failed']);
    expect(finalText(events)).toBe(`Error: ${sentence}`);
  });
});
