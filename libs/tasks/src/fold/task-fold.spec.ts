import fc from 'fast-check';
import {
  artifactUpdate,
  isTerminalState,
  statusUpdate,
  submittedTask,
  type Task,
  TASK_STATES,
  textPart,
  userMessage,
} from '#libs/protocol';
import type { TaskEvent } from './task-event.js';
import { applyTaskEvent, TaskEventRefused, TaskFold } from './task-fold.js';

const reference = { taskId: 't', contextId: 'c' };

function begun(): Task {
  return submittedTask(reference, userMessage('hello', { messageId: 'm1' }));
}

function fold(...events: TaskEvent[]): Task {
  const task = TaskFold.beginTask({ task: begun() });
  for (const event of events) task.applyEvent(event);
  return task.toTask();
}

const anyEvent: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.constant<TaskEvent>({ task: begun() }),
  fc
    .tuple(fc.constantFrom(...TASK_STATES), fc.option(fc.string()), fc.boolean())
    .map(([state, text, received]): TaskEvent => ({
      ...statusUpdate(reference, state, text ?? undefined),
      ...(received && { received: userMessage('more') }),
    })),
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.string(), fc.boolean())
    .map(([artifactId, text, append]): TaskEvent =>
      artifactUpdate(reference, { artifactId, parts: [textPart(text)] }, { append }),
    ),
);

describe('TaskFold', () => {
  it('leaves a valid task or refuses, whatever the order of events', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        let task: Task | undefined;
        for (const event of events) {
          const before = task && JSON.stringify(task);
          try {
            task = applyTaskEvent(task, event);
          } catch (error) {
            expect(error).toBeInstanceOf(TaskEventRefused);
            expect(task && JSON.stringify(task)).toBe(before);
            continue;
          }
          expect(before && isTerminalState((JSON.parse(before) as Task).status.state)).toBeFalsy();
          expect(task.id).toBe('t');
          expect(new Set(task.artifacts?.map((it) => it.artifactId)).size).toBe(task.artifacts?.length ?? 0);
          expect(task.history?.[0]?.messageId).toBe('m1');
        }
      }),
    );
  });

  it('folds a log to the same task in one go and event by event', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        const start = begun();
        const inOneGo = TaskFold.beginTask({ task: start });
        let stepwise: Task = start;
        for (const event of events) {
          try {
            stepwise = applyTaskEvent(stepwise, event);
            inOneGo.applyEvent(event);
          } catch (error) {
            if (!(error instanceof TaskEventRefused)) throw error;
          }
        }
        expect(inOneGo.toTask()).toEqual(stepwise);
      }),
    );
  });

  it('refuses every event after a terminal state', () => {
    for (const state of TASK_STATES.filter(isTerminalState)) {
      const ended = fold(statusUpdate(reference, state));
      expect(() => applyTaskEvent(ended, statusUpdate(reference, 'TASK_STATE_WORKING'))).toThrow(TaskEventRefused);
      expect(() => applyTaskEvent(ended, artifactUpdate(reference, { parts: [textPart('x')] }))).toThrow(
        TaskEventRefused,
      );
    }
  });

  it('begins with the task, once, as SUBMITTED', () => {
    expect(() => applyTaskEvent(undefined, statusUpdate(reference, 'TASK_STATE_WORKING'))).toThrow(TaskEventRefused);
    expect(() => applyTaskEvent(begun(), { task: begun() })).toThrow(TaskEventRefused);
    const working = { ...begun(), status: { state: 'TASK_STATE_WORKING' as const } };
    expect(() => applyTaskEvent(undefined, { task: working })).toThrow(TaskEventRefused);
  });

  it('refuses events of another task or context', () => {
    const stranger = { taskId: 't', contextId: 'other' };
    expect(() => fold(statusUpdate(stranger, 'TASK_STATE_WORKING'))).toThrow(TaskEventRefused);
  });

  it('I5 keeps the turns of both sides in order', () => {
    const received = userMessage('answer', { messageId: 'm2' });
    const task = fold(
      statusUpdate(reference, 'TASK_STATE_INPUT_REQUIRED', 'question?'),
      { ...statusUpdate(reference, 'TASK_STATE_WORKING'), received },
      statusUpdate(reference, 'TASK_STATE_COMPLETED', 'done'),
    );
    expect(task.history?.map((message) => message.parts[0]?.text)).toEqual(['hello', 'question?', 'answer', 'done']);
  });

  it('takes a message only while it waits, and no artifact before it goes on', () => {
    const received = userMessage('more');
    expect(() => fold({ ...statusUpdate(reference, 'TASK_STATE_WORKING'), received })).toThrow(TaskEventRefused);
    const waiting = statusUpdate(reference, 'TASK_STATE_INPUT_REQUIRED', '?');
    expect(() => fold(waiting, artifactUpdate(reference, { parts: [textPart('x')] }))).toThrow(TaskEventRefused);
  });

  it('appends chunks to an artifact and replaces it without append', () => {
    const chunk = (text: string, append: boolean): TaskEvent =>
      artifactUpdate(reference, { artifactId: 'a', parts: [textPart(text)] }, { append });
    const appended = fold(chunk('1', false), chunk('2', true), chunk('3', true));
    expect(appended.artifacts?.[0]?.parts.map((part) => part.text)).toEqual(['1', '2', '3']);
    expect(fold(chunk('1', false), chunk('2', false)).artifacts?.[0]?.parts.map((part) => part.text)).toEqual(['2']);
  });

  it('does not change a task that it gave out', () => {
    const open = TaskFold.beginTask({ task: begun() });
    open.applyEvent(artifactUpdate(reference, { artifactId: 'a', parts: [textPart('1')] }));
    const given = open.toTask();
    open.applyEvent(artifactUpdate(reference, { artifactId: 'a', parts: [textPart('2')] }, { append: true }));
    open.applyEvent(statusUpdate(reference, 'TASK_STATE_COMPLETED', 'done'));
    expect(given.artifacts?.[0]?.parts).toHaveLength(1);
    expect(given.history).toHaveLength(1);
  });
});
