import { jest } from '@jest/globals';
import fc from 'fast-check';
import {
  artifactUpdate,
  type JsonObject,
  type Message,
  statusUpdate,
  submittedTask,
  TASK_STATES,
  type Task,
  userMessage,
} from '#libs/protocol';
import { EventTexts } from './event-texts.js';
import type { TaskEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';
import { taskJson, TaskText } from './task-text.js';

const id = fc.oneof(fc.uuid(), fc.constantFrom('a', 'with "quotes"', 'naïve context'));
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('x'.repeat(4_000)));
const metadata = fc.constantFrom<(JsonObject | undefined)[]>(undefined, {}, { noted: ['"', 1, null] });
const received: Message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'and now?' }] };

type Reference = Parameters<typeof statusUpdate>[0];
type Draw = (reference: Reference) => TaskEvent;
const status: fc.Arbitrary<Draw> = fc
  .record({ state: fc.constantFrom(...TASK_STATES), said: fc.option(text, { nil: undefined }), metadata })
  .map(
    ({ state, said, metadata: noted }) =>
      (reference) =>
        statusUpdate(reference, state, said, noted),
  );
const artifact: fc.Arbitrary<Draw> = fc
  .record({ name: fc.constantFrom('one', 'two', '"'), said: text, append: fc.boolean(), metadata })
  .map(
    ({ name, said, append, metadata: noted }) =>
      (reference) =>
        artifactUpdate(
          reference,
          { artifactId: name, parts: [{ text: said }] },
          { ...(append && { append }), ...(noted && { metadata: noted }) },
        ),
  );
const followUp: fc.Arbitrary<Draw> = fc.constant((reference) => ({
  ...statusUpdate(reference, 'TASK_STATE_WORKING'),
  received,
}));

/** The Task that comes of what it began as and of the events that its life allows. */
function recorded(reference: Reference, begun: Task, draws: readonly Draw[]): Task {
  const [texts, known] = [new EventTexts(reference), new TaskText(reference)];
  const first: TaskEvent = { task: begun };
  const fold = TaskFold.begin(first);
  known.take(first, texts.of(first).part);
  for (const draw of draws) {
    const event = draw(reference);
    try {
      fold.apply(event);
    } catch {
      continue;
    }
    known.take(event, texts.of(event).part);
  }
  const task = fold.task();
  known.keepFor(task);
  return task;
}

describe('The text of a Task', () => {
  it('is what JSON.stringify says of it, whatever its events were', () => {
    const draws = fc.array(fc.oneof({ weight: 3, arbitrary: artifact }, status, followUp), { maxLength: 8 });
    fc.assert(
      fc.property(id, id, text, metadata, draws, (taskId, contextId, said, noted, all) => {
        const reference = { taskId, contextId };
        const task = recorded(reference, submittedTask(reference, userMessage(said), noted), all);
        expect(taskJson(task)).toBe(JSON.stringify(task));
      }),
    );
  });

  it('is that of what its events said where they only added to it, and is made where it began otherwise', () => {
    const reference = { taskId: '01900000-0000-7000-8000-000000000001', contextId: 'a context of ours' };
    const completed: Draw = (of) => statusUpdate(of, 'TASK_STATE_COMPLETED');
    const stringify = jest.spyOn(JSON, 'stringify');
    try {
      const begun = submittedTask(reference, userMessage('hi'));
      const usual = recorded(reference, begun, [completed]);
      stringify.mockClear();
      const json = taskJson(usual);
      expect(stringify).not.toHaveBeenCalled();
      expect(json).toBe(JSON.stringify(usual));
      for (const other of [
        { ...begun, history: [] },
        { metadata: {}, ...begun },
        { ...begun, more: 1 },
      ]) {
        const task = recorded(reference, other, [completed]);
        expect(taskJson(task)).toBe(JSON.stringify(task));
      }
    } finally {
      stringify.mockRestore();
    }
  });
});
