import type { NodeSpec } from '#libs/agents';
import {
  dataPart,
  FORM_EXTENSION,
  formQuestion,
  type JsonObject,
  type Message,
  type Part,
  submittedTask,
  type Task,
  textPart,
  userMessage,
} from '#libs/protocol';
import { HumanNode } from './flow-nodes.js';
import type { NodeEvent } from './node-executor.js';
import { artifactParts, outline, played, turn } from './testing/turn.js';

const FORM: JsonObject = {
  type: 'object',
  properties: { decision: { enum: ['yes', 'no'] } },
  required: ['decision'],
};

const nodeOf = (config: JsonObject, onWait?: NodeSpec['onWait']): NodeSpec => ({
  id: 'gate',
  type: 'human',
  config,
  ...(onWait && { onWait }),
});
const executorOf = (config: JsonObject) => new HumanNode().createExecutor(nodeOf(config));

function askedIn(events: readonly NodeEvent[]): Message {
  const last = events.at(-1);
  const status = last && 'statusUpdate' in last ? last.statusUpdate.status : undefined;
  if (status?.state !== 'TASK_STATE_INPUT_REQUIRED' || !status.message) throw new Error('Nothing is asked');
  return status.message;
}

/** Returns a Task that waits for the answer to a question. */
function waiting(message: Message): Task {
  const task = submittedTask({ taskId: 'task', contextId: 'context' }, userMessage('before'));
  return { ...task, status: { state: 'TASK_STATE_INPUT_REQUIRED', message } };
}

async function asked(config: JsonObject, message: Parameters<typeof turn>[0] = 'Publish?'): Promise<Message> {
  return askedIn(await played(executorOf(config), turn(message)));
}

async function answered(config: JsonObject, parts: Part[]): Promise<NodeEvent[]> {
  return played(executorOf(config), turn(parts, { task: waiting(await asked(config)) }));
}

describe('a human node', () => {
  it('asks what it was told, and says what the answer has to be', async () => {
    const question = await asked({ prompt: 'unused', form: FORM, assignee: 'editors' });
    expect(question).toMatchObject({ role: 'ROLE_AGENT', parts: [textPart('Publish?')], extensions: [FORM_EXTENSION] });
    expect(question.metadata).toEqual({ [FORM_EXTENSION]: { form: FORM, assignee: 'editors' } });
  });

  it('asks its prompt where its Message has no words, beside what it has', async () => {
    const { parts } = await asked({ prompt: 'Publish this?' }, [dataPart({ draft: 1 })]);
    expect(parts).toEqual([textPart('Publish this?'), dataPart({ draft: 1 })]);
    expect((await asked({}, '')).parts).toEqual([textPart('An answer is needed')]);
  });

  it('says until when a run waits', async () => {
    const executor = new HumanNode().createExecutor(nodeOf({}, { deadline: '1h' }));
    const { deadline } = formQuestion(askedIn(await played(executor, turn('x')))) ?? {};
    expect(Math.abs(Date.parse(deadline ?? '') - Date.now() - 3_600_000)).toBeLessThan(60_000);
  });

  it('an answer that fits is its Artifact', async () => {
    const events = await answered({ form: FORM }, [textPart('my decision:'), dataPart({ decision: 'yes' })]);
    expect(outline(events)).toEqual(['artifact', 'completed']);
    expect(artifactParts(events)).toEqual([dataPart({ decision: 'yes' })]);
  });

  it('one that does not is asked for again, with what is wrong with it and the same deadline', async () => {
    const executor = new HumanNode().createExecutor(nodeOf({ form: FORM, assignee: 'me' }, { deadline: '1h' }));
    const first = askedIn(await played(executor, turn('Publish?')));
    const again = askedIn(await played(executor, turn([dataPart({ decision: 'maybe' })], { task: waiting(first) })));
    expect(again.parts).toEqual([textPart('Publish?')]);
    const violations = [
      { field: 'answer.decision', description: 'must be equal to one of the allowed values: ["yes","no"]' },
    ];
    expect(formQuestion(again)).toEqual({ ...formQuestion(first), violations });
    const good = await played(executor, turn([dataPart({ decision: 'no' })], { task: waiting(again) }));
    expect(artifactParts(good)).toEqual([dataPart({ decision: 'no' })]);
    const third = askedIn(await played(executor, turn('yes', { task: waiting(again) })));
    expect(formQuestion(third)?.violations).toEqual([{ field: 'answer', description: 'must be object' }]);
  });

  it('without a form a text is the answer, or else the data', async () => {
    expect(artifactParts(await answered({}, [textPart('yes, '), textPart('do')]))).toEqual([textPart('yes, do')]);
    expect(artifactParts(await answered({}, [dataPart({ a: 1 })]))).toEqual([dataPart({ a: 1 })]);
    const nothing = askedIn(await answered({}, [{ url: 'http://a.test/x' }]));
    expect(formQuestion(nothing)?.violations).toEqual([
      { field: 'answer', description: 'is missing: it is text or data' },
    ]);
  });

  it.each<[string, JsonObject, Part[], string]>([
    [
      'a second one with a form',
      { form: FORM },
      [dataPart({ decision: 'yes' }), dataPart({ decision: 'no' })],
      'parts[1]',
    ],
    ['a second one without', {}, [dataPart(1), dataPart(2)], 'parts[1]'],
    ['what stands beside a text without a form', {}, [textPart('yes'), dataPart(2)], 'parts[1]'],
  ])('of data nothing is dropped: not %s', async (_what, config, parts, field) => {
    const again = askedIn(await answered(config, parts));
    expect(formQuestion(again)?.violations).toMatchObject([{ field }]);
  });

  it('a text may be what the form asks for', async () => {
    const form = { type: 'string', minLength: 3 };
    expect(artifactParts(await answered({ form }, [textPart('long')]))).toEqual([dataPart('long')]);
  });

  it('declares the extension, and what goes in and comes out', () => {
    expect(executorOf({ form: FORM }).declares).toMatchObject({
      inputModes: ['text/plain', 'application/json'],
      outputModes: ['application/json'],
      capabilities: { extensions: [{ uri: FORM_EXTENSION, required: false }] },
    });
    expect(executorOf({}).declares).toMatchObject({ outputModes: ['text/plain', 'application/json'] });
  });

  it('asks for nothing where its form was saved when more was allowed', async () => {
    expect(formQuestion(await asked({ form: { type: 'any' } }))).toEqual({});
  });
});
