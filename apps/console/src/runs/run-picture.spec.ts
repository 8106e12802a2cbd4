import type { RunEvent } from './run-event.js';
import { folded, pictureOf, type RunPicture } from './run-picture.js';

const GRAPH = {
  nodes: ['a', 'b', 'c'].map((id) => ({ id, type: 'agent', config: {} })),
  edges: [{ from: 'a', to: 'b' }],
};

const events = (...steps: [type: string, node?: string, payload?: object][]): RunEvent[] =>
  steps.map(([type, node_id, payload = {}], index) => ({
    type,
    sequence: index + 1,
    timestamp: new Date(index * 1000).toISOString(),
    ...(node_id !== undefined && node_id !== '' && { node_id }),
    payload: payload as RunEvent['payload'],
  }));

const after = (steps: RunEvent[], graph: RunPicture['graph'] = GRAPH) => folded(pictureOf(graph), steps);
const statuses = ({ nodes }: RunPicture) => [...nodes.values()].map(({ status }) => status);

describe('the picture of a run', () => {
  it('follows a node from its start to its end', () => {
    const picture = after(
      events(
        ['node.started', '', { workflow: 'w' }],
        ['node.started', 'a', { attempt: 1 }],
        ['a2a.sending', 'a', { url: 'http://agent' }],
        ['a2a.received', 'a', { url: 'http://agent', status: 'completed', taskId: 't1' }],
        ['node.completed', 'a', { status: 'completed' }],
      ),
    );
    expect(picture).toMatchObject({ status: 'running', startedAt: '1970-01-01T00:00:00.000Z' });
    expect(picture.nodes.get('a')).toEqual({
      id: 'a',
      type: 'agent',
      status: 'completed',
      url: 'http://agent',
      taskId: 't1',
      attempts: [
        {
          attempt: 1,
          startedAt: '1970-01-01T00:00:01.000Z',
          finishedAt: '1970-01-01T00:00:04.000Z',
          status: 'completed',
        },
      ],
    });
    expect(picture.nodes.get('b')?.status).toBe('pending');
  });

  it('waits with the question of a node, until it is answered', () => {
    const asked = events(
      ['node.started', 'a', { attempt: 1 }],
      ['a2a.received', 'a', { question: [{ text: 'Which?' }], taskId: 't1' }],
      ['input.required', 'a', { question: 'Which?' }],
    );
    const waiting = after(asked);
    expect(waiting.status).toBe('input-required');
    expect(waiting.nodes.get('a')).toMatchObject({ status: 'input-required', question: 'Which?' });
    const answered = folded(waiting, events(['input.received'], ['a2a.sending', 'a', { url: 'http://agent' }]));
    expect(answered.status).toBe('running');
    expect(answered.nodes.get('a')).not.toHaveProperty('question');
  });

  it('skips everything after the first failure, and stops what was under way when the run ends', () => {
    const failure = events(
      ['node.started', 'a', { attempt: 1 }],
      ['node.started', 'c', { attempt: 1 }],
      ['node.error', 'a', { error: 'broken', message: 'node "a": broken' }],
    );
    const failed = after(failure);
    expect(statuses(failed)).toEqual(['failed', 'skipped', 'running']);
    expect(failed.error).toEqual({ node: 'a', message: 'node "a": broken' });
    const ended = folded(failed, events(['done', '', { status: 'failed', error: 'later' }]));
    expect(statuses(ended)).toEqual(['failed', 'skipped', 'canceled']);
    expect(ended).toMatchObject({ status: 'failed', error: { node: 'a' } });
  });

  it('skips only what follows from the failed node, where the rest goes on', () => {
    const graph = { ...GRAPH, onFailure: 'continue' };
    const failed = after(events(['node.started', 'a', { attempt: 1 }], ['node.error', 'a', { error: 'x' }]), graph);
    expect(statuses(failed)).toEqual(['failed', 'skipped', 'pending']);
  });

  it('keeps every attempt', () => {
    const twice = after(
      events(
        ['node.started', 'a', { attempt: 1 }],
        ['node.started', 'a', { attempt: 2 }],
        ['node.canceled', 'a', { outcome: 'acknowledged' }],
      ),
    );
    expect(twice.nodes.get('a')?.attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'running'],
      [2, 'canceled'],
    ]);
    expect(twice.nodes.get('a')?.outcome).toBe('acknowledged');
  });

  it('is the same however the events are cut', () => {
    const all = events(
      ['node.started', 'a', { attempt: 1 }],
      ['node.completed', 'a'],
      ['done', '', { status: 'completed' }],
    );
    expect(folded(folded(pictureOf(GRAPH), all.slice(0, 1)), all.slice(1))).toEqual(after(all));
  });
});
