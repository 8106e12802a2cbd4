import type { A2aStreamItem } from '../api/task.js';
import { eventLine } from './task-event.js';
import { originOf } from './task-origin.js';

const ids = { taskId: 't', contextId: 'c' };
const line = (item: A2aStreamItem) => eventLine({ sequence: 1, item });

describe('eventLine', () => {
  it('tells the begin with what was asked', () => {
    const task = {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: '2026-11-22T12:00:00Z' },
      history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello\n  there' }] }],
    };
    expect(line({ task })).toEqual({
      kind: 'task',
      title: 'TASK_STATE_SUBMITTED',
      text: 'Hello there',
      at: '2026-11-22T12:00:00Z',
    });
  });

  it('tells a step with its type and what was said', () => {
    const statusUpdate = {
      ...ids,
      status: {
        state: 'TASK_STATE_WORKING',
        message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'on it' }] },
      },
      metadata: { 'parley/event': { type: 'node.started' } },
    };
    expect(line({ statusUpdate })).toEqual({
      kind: 'status',
      title: 'TASK_STATE_WORKING',
      text: 'node.started · on it',
    });
  });

  it('tells what a live stream shows of it', () => {
    const metadata = { 'parley/stream': { stream: 'a2a', data: { phase: 'turn', turn: 2 } } };
    const statusUpdate = { ...ids, status: { state: 'TASK_STATE_WORKING' }, metadata };
    expect(line({ statusUpdate }).text).toBe('a2a turn 2');
  });

  it('tells chunks of an Artifact, shortened', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'x'.repeat(500) }] };
    const shown = line({ artifactUpdate: { ...ids, artifact, append: true, lastChunk: true } });
    expect(shown.title).toBe('Adds to a, complete');
    expect(shown.text).toHaveLength(160);
  });

  it('names data and files', () => {
    const parts = [{ data: { a: 1 } }, { raw: 'AA==', filename: 'x.png' }];
    expect(line({ artifactUpdate: { ...ids, artifact: { artifactId: 'a', name: 'out', parts } } })).toEqual({
      kind: 'artifact',
      title: 'Artifact out',
      text: '{"a":1} x.png',
    });
  });
});

describe('originOf', () => {
  it.each([
    [{ 'parley/run': { workflow: 'greeting' } }, { label: 'run of greeting', href: '/runs/a%2Fb' }],
    [{ 'parley/conversation': {} }, { label: 'conversation', href: '/conversations/a%2Fb' }],
    [{ 'parley/brainstorm': {} }, { label: 'brainstorm', href: '/brainstorms/a%2Fb' }],
    [{ 'parley/run': 'odd' }, { label: 'agent' }],
  ])('%j is %j', (metadata, origin) => expect(originOf({ id: 'a/b', metadata })).toEqual(origin));
});
