import {
  artifactUpdate,
  dataPart,
  runEventMetadata,
  statusUpdate,
  submittedTask,
  textPart,
  userMessage,
} from '#libs/protocol';
import { type TaskEvent, toStreamResponse } from '#libs/tasks';
import { runMetadata } from '../state/run-metadata.js';
import { type StreamedRunEvent, toRunEvent } from './run-event.js';

const reference = { taskId: 'run-1', contextId: 'context-1' };

function reported(event: TaskEvent, sequence = 2): StreamedRunEvent {
  return toRunEvent(
    { taskId: 'run-1', sequence, event, json: JSON.stringify(toStreamResponse(event)) },
    { workflow: 'wf' },
  );
}

describe('toRunEvent', () => {
  test('the Task itself opens the run (C13)', () => {
    const metadata = runMetadata({ workflow: 'wf', revision: 'r1', inputs: { in: 'hello' } });
    const task = submittedTask(reference, userMessage('hello'), metadata);
    expect(reported({ task }, 1)).toEqual({
      id: expect.stringMatching(/^ev-[0-9a-f]{16}$/),
      type: 'node.started',
      runId: 'run-1',
      session_id: 'run-1',
      workflow: 'wf',
      sequence: 1,
      timestamp: task.status.timestamp,
      payload: { workflow: 'wf', inputs: { in: 'hello' } },
    });
  });

  test('an event always has the same id, and no two have the same', () => {
    const event = statusUpdate(reference, 'TASK_STATE_WORKING');
    expect(reported(event, 2).id).toBe(reported(event, 2).id);
    expect(reported(event, 3).id).not.toBe(reported(event, 2).id);
  });

  test('a step keeps its payload, and its flat fields stand beside it (F3, G6)', () => {
    const payload = {
      model: 'm',
      tool: 't',
      url: 'u',
      status: 's',
      error: 'e',
      result: { r: 1 },
      output: 'o',
      message: 'w',
      other: 1,
    };
    const note = { type: 'tool.result', node_id: 'a', node_type: 'tool', payload };
    const event = statusUpdate(reference, 'TASK_STATE_WORKING', undefined, runEventMetadata(note));
    const { other, ...flat } = payload;
    expect(reported(event)).toMatchObject({
      ...flat,
      type: 'tool.result',
      node_id: 'a',
      node_type: 'tool',
      timestamp: event.statusUpdate.status.timestamp,
      payload,
    });
    expect(reported(event)).not.toHaveProperty('other', other);
  });

  test('an Artifact is the completion of its node, with the time of the step', () => {
    const note = {
      type: 'node.completed',
      node_id: 'out',
      node_type: 'output',
      payload: { status: 'completed' },
      timestamp: 'then',
    };
    const artifact = { artifactId: 'out', name: 'out', parts: [dataPart(1), textPart('text')] };
    expect(reported(artifactUpdate(reference, artifact, { metadata: runEventMetadata(note) }))).toMatchObject({
      type: 'node.completed',
      node_id: 'out',
      timestamp: 'then',
      status: 'completed',
      output: 'text',
      payload: { status: 'completed', artifacts: [artifact], output: 'text' },
    });
  });

  test('a follow-up Message is input.received', () => {
    const received = userMessage('this', { messageId: 'm-2' });
    expect(reported({ ...statusUpdate(reference, 'TASK_STATE_WORKING'), received })).toMatchObject({
      type: 'input.received',
      payload: { messageId: 'm-2', parts: [textPart('this')] },
    });
  });

  test('the end is done, with the state map and the session at the top (F3)', () => {
    const note = { type: 'done', payload: { status: 'failed', state: { a: 'A' }, error: 'node "b": boom' } };
    const event = statusUpdate(reference, 'TASK_STATE_FAILED', 'node "b": boom', runEventMetadata(note));
    expect(reported(event)).toMatchObject({
      type: 'done',
      session_id: 'run-1',
      runId: 'run-1',
      status: 'failed',
      state: { a: 'A' },
      error: 'node "b": boom',
      payload: { session_id: 'run-1', runId: 'run-1', ...note.payload },
    });
  });

  test('an end or a wait that the run did not write itself is told all the same', () => {
    expect(reported(statusUpdate(reference, 'TASK_STATE_FAILED', 'The process stopped.'))).toMatchObject({
      type: 'done',
      status: 'failed',
      error: 'The process stopped.',
      state: {},
    });
    const canceled = reported(statusUpdate(reference, 'TASK_STATE_CANCELED'));
    expect(canceled).toMatchObject({ type: 'done', status: 'canceled' });
    expect(canceled).not.toHaveProperty('error');
    expect(reported(statusUpdate(reference, 'TASK_STATE_INPUT_REQUIRED', 'which?'))).toMatchObject({
      type: 'input.required',
      payload: { question: 'which?' },
    });
  });
});
