import type { RunEvent } from './run-event.js';
import { applyEvents, pictureOf, type RunPicture } from './run-picture.js';

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

const after = (steps: RunEvent[], graph: RunPicture['graph'] = GRAPH) => applyEvents(pictureOf(graph), steps);
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
    const answered = applyEvents(waiting, events(['input.received'], ['a2a.sending', 'a', { url: 'http://agent' }]));
    expect(answered.status).toBe('running');
    expect(answered.nodes.get('a')).not.toHaveProperty('question');
    expect(applyEvents(waiting, events(['run.woken'])).status).toBe('running');
    const resumed = applyEvents(waiting, events(['run.woken'], ['node.resumed', 'a', { taskId: 't1' }]));
    expect(resumed.nodes.get('a')).toMatchObject({ status: 'running', taskId: 't1' });
    expect(resumed.nodes.get('a')).not.toHaveProperty('question');
  });

  it('keeps the steps of an agent in its last attempt, and asks in its words', () => {
    const question = [{ text: 'May it?' }, { data: { tool: 'erase' } }];
    const picture = after(
      events(
        ['node.started', 'a', { attempt: 1 }],
        ['model.request', 'a', { model: 'house', step: 1 }],
        ['node.retrying', 'a', {}],
        ['node.started', 'a', { attempt: 2 }],
        ['model.request', 'a', { model: 'house', step: 1 }],
        ['node.progress', 'a', { artifact: { artifactId: 'a', parts: [{ text: 'one ' }] } }],
        ['node.progress', 'a', { artifact: { artifactId: 'a', parts: [{ text: 'two' }], append: true } }],
        ['a2a.received', 'a', { question, taskId: 't1' }],
      ),
    );
    const { work, question: asked } = picture.nodes.get('a') ?? {};
    expect(asked).toBe('May it?');
    expect(work?.map(({ type }) => type)).toEqual(['model.request', 'text', 'question']);
    expect(work?.[1]?.payload['parts']).toEqual([{ text: 'one two' }]);
    expect(after(events(['node.started', 'b'], ['node.completed', 'b'])).nodes.get('b')).not.toHaveProperty('work');
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
    const ended = applyEvents(failed, events(['done', '', { status: 'failed', error: 'later' }]));
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
    expect(applyEvents(applyEvents(pictureOf(GRAPH), all.slice(0, 1)), all.slice(1))).toEqual(after(all));
  });

  describe('of a workflow with loops, lists and waiting', () => {
    const graph: RunPicture['graph'] = {
      nodes: ['in', 'draft', 'review', 'each', 'out'].map((id) => ({ id, type: 'agent', config: {} })),
      edges: [
        { from: 'in', to: 'draft' },
        { from: 'draft', to: 'review' },
        { from: 'review', to: 'draft', loop: { max_iterations: 3 } },
        { from: 'review', to: 'each' },
        { from: 'each', to: 'out' },
      ],
    };
    const of = (...steps: [type: string, instance?: string, payload?: object][]): RunEvent[] =>
      events(...steps).map((event) => {
        const instance = event.node_id;
        const node = instance?.replace(/[@[].*/, '');
        return node === instance ? event : ({ ...event, node_id: node, instance } as RunEvent);
      });

    it('keeps each iteration, and shows a node in its newest', () => {
      const picture = after(
        of(
          ['node.started', 'draft@1', { attempt: 1 }],
          ['node.completed', 'draft@1'],
          ['node.completed', 'review@1'],
          ['loop.next', 'review@1', { edge: 2, iteration: 2, at: '2026-01-01T00:00:00Z' }],
          ['node.started', 'draft@2', { attempt: 1 }],
        ),
        graph,
      );
      expect(picture.nodes.get('draft')).toMatchObject({ status: 'running', instance: 'draft@2' });
      expect(picture.instances.get('draft@1')?.status).toBe('completed');
      expect(picture.loops.get('2')).toEqual({ iteration: 2, at: '2026-01-01T00:00:00Z' });
      const ended = applyEvents(picture, of(['loop.ended', 'review@2', { edge: 2, reason: 'max', iterations: 2 }]));
      expect(ended.loops.get('2')).toEqual({ iteration: 2, reason: 'max' });
    });

    it('counts the entries of a list by their status', () => {
      const picture = after(
        of(
          ['node.started', 'each', { attempt: 1 }],
          ['each.started', 'each', { items: ['a', 'b', 'c'] }],
          ['node.started', 'each[0]', { attempt: 1 }],
          ['node.started', 'each[1]', { attempt: 1 }],
          ['node.completed', 'each[0]'],
          ['node.error', 'each[1]', { error: 'no' }],
          ['node.skipped', '', { instances: ['each[2]'], because: 'failure' }],
        ),
        graph,
      );
      expect(picture.nodes.get('each')).toMatchObject({
        status: 'running',
        list: { items: ['a', 'b', 'c'], counts: { running: 0, completed: 1, failed: 1, skipped: 1 } },
      });
      expect(picture.instances.get('each[1]')).toMatchObject({ status: 'failed', error: 'no' });
    });

    it('waits, tries again, and forgets both when the node goes on', () => {
      const failure = { kind: 'timeout', message: 'too slow' };
      const steps = of(
        ['node.started', 'out', { attempt: 1 }],
        ['node.retrying', 'out', { attempt: 1, failure, retryAt: '2026-01-01T00:00:09Z' }],
      );
      const waiting = after(steps, graph).nodes.get('out');
      expect(waiting).toMatchObject({ status: 'running', retryAt: '2026-01-01T00:00:09Z' });
      expect(waiting?.attempts).toMatchObject([{ status: 'failed', error: 'too slow' }]);
      const again = applyEvents(after(steps, graph), of(['node.started', 'out', { attempt: 2 }])).nodes.get('out');
      expect(again).not.toHaveProperty('retryAt');
      expect(again?.attempts.map(({ status }) => status)).toEqual(['failed', 'running']);
      expect(
        after(of(['node.waiting', 'out', { until: '2026-02-01T00:00:00Z' }]), graph).nodes.get('out'),
      ).toMatchObject({
        until: '2026-02-01T00:00:00Z',
      });
    });

    it('knows what is asked, what is under way, and what stands for a result', () => {
      const asks = { form: { type: 'object' }, assignee: 'editors', deadline: '2026-01-03T00:00:00Z' };
      const picture = after(
        of(
          ['a2a.received', 'draft@1', { question: [{ text: 'Publish?' }], asks }],
          ['node.progress', 'each[0]', { text: 'reading' }],
          ['node.progress', 'each[0]', { artifact: { artifactId: 'a', parts: [{ text: 'one ' }] } }],
          ['node.progress', 'each[0]', { artifact: { artifactId: 'a', parts: [{ text: 'two' }], append: true } }],
          ['node.completed', 'out', { fallback: true }],
          ['node.reused', 'in', { origin: 'r1', artifacts: [] }],
        ),
        graph,
      );
      expect(picture.nodes.get('draft')).toMatchObject({ status: 'input-required', question: 'Publish?', asks });
      expect(picture.instances.get('each[0]')?.progress).toEqual({ text: 'reading', made: 'one two' });
      expect(picture.nodes.get('out')).toMatchObject({ status: 'completed', fallback: true });
      expect(picture.nodes.get('in')).toMatchObject({ status: 'completed', origin: 'r1' });
    });

    it('blames nobody for a failure that was taken care of', () => {
      const failed = after(
        of(['node.started', 'in'], ['node.error', 'in', { error: 'x', message: 'node "in": x' }]),
        graph,
      );
      expect(failed.error).toBeUndefined();
      expect(failed.nodes.get('out')?.status).toBe('pending');
      const skipped = applyEvents(failed, of(['node.skipped', '', { instances: ['out'], because: 'broken' }]));
      expect(skipped.nodes.get('out')).toMatchObject({ status: 'skipped', because: 'broken' });
      const end = applyEvents(skipped, of(['workflow.failed', '', { node: 'in', error: 'node "in": x' }]));
      expect(end.error).toEqual({ node: 'in', message: 'node "in": x' });
    });

    it('says that nothing happens until then, and forgets it when something does', () => {
      const parked = after(of(['run.parked', '', { until: '2026-02-01T00:00:00Z' }]), graph);
      expect(parked.parked).toEqual({ until: '2026-02-01T00:00:00Z' });
      expect(applyEvents(parked, of(['node.started', 'in'])).parked).toBeUndefined();
    });
  });
});
