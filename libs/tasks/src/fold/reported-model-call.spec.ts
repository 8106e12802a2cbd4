import { type JsonObject, runEventMetadata, type RunEventNote, statusUpdate } from '#libs/protocol';
import { modelCallsIn, workflowIn } from './reported-model-call.js';
import type { RecordedEvent } from './task-event.js';

const REFERENCE = { taskId: 't', contextId: 'c' };

function reporting(...notes: Partial<RunEventNote>[]): RecordedEvent[] {
  return notes.map((note, index) => {
    const metadata = runEventMetadata({ type: 'model.response', payload: {}, ...note });
    const event = statusUpdate(REFERENCE, 'TASK_STATE_WORKING', undefined, metadata);
    return { taskId: 't', sequence: index + 1, event, json: '' };
  });
}

function callsIn(payload: JsonObject, more: Partial<RunEventNote> = {}) {
  return modelCallsIn(reporting({ payload, ...more }));
}

const KNOWN = {
  model: 'm',
  usage: { inputTokens: 9, outputTokens: 2, cachedInputTokens: 4, cacheWriteInputTokens: 3, reasoningTokens: 1 },
};

it('reads the tokens and the cost of each call', () => {
  const usage = { ...KNOWN.usage, cost: '0.5' };
  const tokens = { input: 9, output: 2, cached: 4, cache_write: 3, reasoning: 1 };
  expect(modelCallsIn(reporting({ payload: KNOWN }, { payload: { model: 'm', usage } }))).toEqual([
    { model: 'm', tokens },
    { model: 'm', tokens: { ...tokens, cost: '0.5' } },
  ]);
});

it('counts a failed call only if its tokens are known', () => {
  expect(callsIn(KNOWN, { type: 'model.error' })).toHaveLength(1);
  expect(callsIn({ model: 'm' }, { type: 'model.error' })).toBeUndefined();
  expect(callsIn({ model: 'm' })).toEqual([{ model: 'm' }]);
});

it('ignores the events of nodes that the log of a run repeats, and other events', () => {
  expect(callsIn(KNOWN, { node_id: 'a' })).toBeUndefined();
  expect(callsIn(KNOWN, { type: 'model.request' })).toBeUndefined();
  expect(modelCallsIn([])).toBeUndefined();
});

it('ignores calls without tokens, as of the built-in model', () => {
  expect(callsIn({ model: 'echo', usage: { inputTokens: 0, outputTokens: 0 } })).toBeUndefined();
});

it.each<[string, JsonObject]>([
  ['negative', { inputTokens: -1, outputTokens: 1 }],
  ['not whole', { inputTokens: 0.5, outputTokens: 1 }],
  ['a text', { inputTokens: '1', outputTokens: 1 }],
  ['beyond measure', { inputTokens: 1e12, outputTokens: 1 }],
  ['absent', { outputTokens: 1 }],
])('takes a number that is %s for unknown', (_what, usage) => {
  expect(callsIn({ model: 'm', usage })).toEqual([{ model: 'm' }]);
});

it('ignores a cost that is no decimal number, and shortens names to what the database stores', () => {
  const usage = { inputTokens: 1, outputTokens: 1, cost: '1e5' };
  const [call] = callsIn({ model: `a\u0000${'x'.repeat(300)}`, usage }) ?? [];
  expect(call?.tokens).not.toHaveProperty('cost');
  expect(call?.model).toBe(`a${'x'.repeat(199)}`);
  expect(callsIn({ model: 5, usage })).toBeUndefined();
});

it('finds the workflow in the path of an agent', () => {
  expect(['workflows/w/nodes/n', 'workflows/w', 'nodes/n'].map(workflowIn)).toEqual(['w', 'w', 'nodes/n']);
});
