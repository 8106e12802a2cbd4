import type { AnyRunEvent } from '#libs/client';
import { eventLine } from './event-line.js';
import { Terminal } from './terminal.js';

const stream = { write: () => undefined };
const terminal = new Terminal({ out: stream, err: stream, input: process.stdin, env: { NO_COLOR: '1' } });

/** Formats an event as a line, without the time. */
function line(event: Partial<AnyRunEvent>): string {
  const whole = {
    sequence: 1,
    runId: 'r',
    timestamp: '2026-01-01T00:00:00.000Z',
    payload: {},
    ...event,
  } as AnyRunEvent;
  return eventLine(whole, terminal).slice('00:00:00.000 '.length);
}

describe('An event as a line', () => {
  it.each<[string, Partial<AnyRunEvent>, string]>([
    [
      'a question by its text',
      {
        type: 'a2a.received',
        node_id: 'gate',
        payload: { question: [{ text: 'Shall\nit?' }], status: 'input-required' },
      },
      'a2a.received    [gate] Shall it? status=input-required',
    ],
    [
      'a streamed chunk by its text',
      {
        type: 'node.progress',
        node_id: 'writer',
        payload: { artifact: { artifactId: 'a', append: true, parts: [{ text: 'Once\nupon' }] } },
      },
      'node.progress   [writer] Once upon',
    ],
    [
      'the instances that are skipped, and why',
      { type: 'node.skipped', payload: { instances: ['a', 'b@2'], because: 'off' } },
      'node.skipped    a, b@2 off',
    ],
    [
      'data where there is no text',
      { type: 'node.completed', node_id: 'gate', payload: { artifacts: [{ parts: [{ data: { ok: true } }] }] } },
      'node.completed  [gate] {"ok":true}',
    ],
    [
      'a call of a tool with its arguments',
      { type: 'tool.call', node_id: 'x', payload: { tool: 'calculator', args: { expression: '1+1' } } },
      'tool.call       [x] tool=calculator {"expression":"1+1"}',
    ],
    [
      'which workflow a run is of',
      { type: 'node.started', workflow: 'tea', payload: { workflow: 'tea', inputs: {} } },
      'node.started    tea',
    ],
    [
      'what went wrong once',
      { type: 'node.error', node_id: 'x', payload: { error: 'no tea', message: 'node "x": no tea' } },
      'node.error      [x] error: no tea',
    ],
    [
      'why an attempt failed, and when the next one is',
      {
        type: 'node.retrying',
        node_id: 'x',
        payload: { attempt: 1, failure: { kind: 'failed', message: 'no tea' }, retryAt: '2026-01-01T00:00:01.000Z' },
      },
      'node.retrying   [x] error: no tea until 2026-01-01T00:00:01.000Z',
    ],
    [
      'how long a list is',
      { type: 'each.started', node_id: 'x', payload: { items: ['a', 'b'] } },
      'each.started    [x] items=2',
    ],
    [
      'which iteration comes next',
      { type: 'loop.next', node_id: 'x', payload: { edge: 3, iteration: 2 } },
      'loop.next       [x] iteration=2',
    ],
    [
      'what became of a cancel',
      { type: 'node.canceled', node_id: 'x', payload: { taskId: 't', outcome: 'acknowledged' } },
      'node.canceled   [x] acknowledged',
    ],
  ])('tells %s', (_what, event, expected) => expect(line(event)).toBe(expected));
});
