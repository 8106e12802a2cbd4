import type { RunEvent } from './run-event.js';
import { TimelineFold, type TimelinePart } from './timeline-parts.js';

const at = (second: number): string => new Date(second * 1000).toISOString();

/** Folds events of a node, one a second; `[type, payload, instance]`. */
function fold(...events: [type: string, payload?: object, instance?: string][]): readonly TimelinePart[] {
  const timeline = new TimelineFold();
  for (const [index, [type, payload = {}, instance = 'a']] of events.entries()) {
    const member = { node_id: 'a', ...(instance !== 'a' && { instance }) };
    timeline.foldEvent({ type, payload, timestamp: at(index), sequence: index + 1, ...member } as unknown as RunEvent);
  }
  return timeline.snapshot();
}

const times = (parts: readonly TimelinePart[]): unknown[] =>
  parts.map(({ kind, label, from, to, status }) => [
    kind,
    label,
    Date.parse(from) / 1000,
    to && Date.parse(to) / 1000,
    status,
  ]);

describe('TimelineFold', () => {
  it('shows two model calls, a tool and a retry with the failed call before it as five parts', () => {
    const parts = fold(
      ['node.started', { attempt: 1 }],
      ['model.request', { model: 'm', step: 1 }],
      ['model.error', { model: 'm', step: 1, message: 'overloaded' }],
      ['node.retrying', { attempt: 1, failure: { kind: 'failed', message: 'overloaded' }, retryAt: at(4) }],
      ['node.started', { attempt: 2 }],
      ['model.request', { model: 'm', step: 1 }],
      ['model.response', { model: 'm', step: 1, toolCalls: [{ tool: 'calculator', id: 'c', args: {} }] }],
      ['tool.call', { tool: 'calculator', id: 'c', step: 1, args: {} }],
      ['tool.result', { tool: 'calculator', id: 'c', result: '42' }],
      ['model.request', { model: 'm', step: 2 }],
      ['model.response', { model: 'm', step: 2 }],
      ['node.completed'],
    );
    expect(times(parts)).toEqual([
      ['model', 'm, step 1', 1, 2, 'failed'],
      ['retry', 'Wait for attempt 2', 3, 4, 'completed'],
      ['model', 'm, step 1', 5, 6, 'completed'],
      ['tool', 'calculator', 7, 8, 'completed'],
      ['model', 'm, step 2', 9, 10, 'completed'],
    ]);
    expect(parts[0]?.error).toBe('overloaded');
  });

  it('shows waits for an answer and for a time', () => {
    const question = [{ text: 'Sure?' }];
    expect(times(fold(['a2a.received', { question }], ['a2a.sending'], ['node.waiting'], ['node.completed']))).toEqual([
      ['wait', 'Wait for an answer', 0, 1, 'completed'],
      ['wait', 'Wait', 2, 3, 'completed'],
    ]);
  });

  it('ends the parts of an interrupted attempt with the node, and with the run', () => {
    const call = { tool: 't', id: 'c' };
    expect(times(fold(['tool.call', call], ['tool.call', call], ['node.error']))).toEqual([
      ['tool', 't', 0, 1, 'canceled'],
      ['tool', 't', 1, 2, 'canceled'],
    ]);
    expect(times(fold(['model.request', { model: 'm' }], ['done']))).toEqual([['model', 'm', 0, 1, 'canceled']]);
  });

  it('shows each entry of a list', () => {
    expect(times(fold(['node.started', {}, 'a[0]'], ['node.started', {}, 'a[1]'], ['node.error', {}, 'a[0]']))).toEqual(
      [
        ['entry', 'a[0]', 0, 2, 'failed'],
        ['entry', 'a[1]', 1, undefined, 'running'],
      ],
    );
  });

  it('ignores what a remote agent sends in place of texts', () => {
    const odd = fold(['model.request', { model: {}, step: [] }], ['tool.call', { tool: 1 }], ['tool.result', {}]);
    expect(times(odd)).toEqual([
      ['model', ', step ', 0, undefined, 'running'],
      ['tool', '1', 1, 2, 'completed'],
    ]);
  });
});
