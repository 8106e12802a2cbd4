import { agentMessage, type JsonObject, type Task, type TaskState } from '#libs/protocol';
import type { OpenQuestion, StoredTask } from '#libs/tasks';
import { answerMessage, elicitationOf, type McpQuestion, questionsOf } from './questions.js';

const since = new Date('2026-11-01T10:00:00Z');
const reference = { taskId: 't', contextId: 'c' };

function stored(state: TaskState = 'TASK_STATE_INPUT_REQUIRED', lastSequence = 7): StoredTask {
  const task: Task = { id: 't', contextId: 'c', status: { state, message: agentMessage(reference, 'Which?') } };
  const header = { ...reference, tenant: '', owner: 'ann', agent: 'workflows/w', state, lastSequence };
  return { task, header: { ...header, createdAt: since, updatedAt: since } };
}

const asked = (...open: Partial<OpenQuestion>[]) => ({
  listQuestions: async () =>
    open.map((it) => ({ taskId: 't', agent: 'workflows/w', key: 'q', since, body: {}, ...it })),
});

const accept = (content: JsonObject) => ({ action: 'accept', content });
const NESTED = { type: 'object', properties: { a: { type: 'object' } } };

describe('questionsOf', () => {
  it('has what is asked, under a key that stays as long as it is', async () => {
    const open = asked({ key: 'draft@2', body: { text: 'Which?' } }, { key: 'h', body: { text: 'OK?', form: NESTED } });
    const questions = await questionsOf(stored(), open);
    expect(questions).toEqual([
      { key: `draft@2@${since.getTime().toString(36)}`, instance: 'draft@2', text: 'Which?' },
      { key: `h@${since.getTime().toString(36)}`, instance: 'h', text: 'OK?', form: NESTED },
    ]);
    expect(await questionsOf(stored('TASK_STATE_INPUT_REQUIRED', 20), open)).toEqual(questions);
  });

  it('has another key for what is asked again, because the answer was wrong or was followed by a question', async () => {
    const keys = async (open: Partial<OpenQuestion>, sequence?: number): Promise<string | undefined> =>
      (await questionsOf(stored('TASK_STATE_INPUT_REQUIRED', sequence), asked(open)))[0]?.key;
    const again = { body: { violations: [{ field: 'ok' }] } };
    const all = [await keys({}), await keys(again, 9), await keys(again, 12), await keys({ since: new Date() })];
    expect(new Set(all).size).toBe(4);
  });

  it('asks what the Task itself says where no node does, and nothing where it does not wait', async () => {
    expect(await questionsOf(stored(), asked())).toEqual([{ key: 'task@7', text: 'Which?' }]);
    expect(await questionsOf(stored('TASK_STATE_WORKING'), asked({}))).toEqual([]);
  });
});

describe('an elicitation', () => {
  it('asks for an answer where there is no form, or one that it cannot show, which stands in the text then', () => {
    const requestedSchema = { type: 'object', required: ['answer'] };
    expect(elicitationOf({ key: 'k', text: 'Which?' })).toMatchObject({
      params: { message: 'Which?', requestedSchema },
    });
    expect(elicitationOf({ key: 'k', text: 'Which?', form: NESTED })).toMatchObject({
      params: { message: `Which?\n\nAnswer with JSON of this schema: ${JSON.stringify(NESTED)}`, requestedSchema },
    });
  });
});

describe('the text of an elicitation', () => {
  const messageOf = (more: Partial<McpQuestion>): string =>
    elicitationOf({ key: 'k', text: 'Which?', ...more }).params.message;

  it('names the rules of a form that an elicitation cannot show', () => {
    const rules: Record<'mail' | 'colour', JsonObject> = {
      mail: { pattern: '@' },
      colour: { oneOf: [{ const: 'red' }, { pattern: '^#' }] },
    };
    const form = {
      type: 'object',
      title: 'Order',
      additionalProperties: false,
      properties: {
        mail: { type: 'string', minLength: 3, description: 'E-mail', ...rules.mail },
        colour: { type: 'string', ...rules.colour },
        ok: { type: 'boolean' },
      },
      minProperties: 1,
    };
    expect(messageOf({ form })).toBe(
      `Which?\n\nFurther rules: ${JSON.stringify({ properties: rules, minProperties: 1 })}`,
    );
    expect(messageOf({ form: { type: 'object', properties: { ok: { type: 'boolean' } } } })).toBe('Which?');
  });

  it('says why the previous answer was rejected', async () => {
    const violations = Array.from({ length: 12 }, (_, at) => ({ field: `f${at}`, description: 'must be integer' }));
    const [question] = await questionsOf(stored(), asked({ body: { text: 'Which?', violations } }));
    const said = violations.slice(0, 10).map(({ field, description }) => `${field}: ${description}`);
    expect(messageOf(question!)).toBe(`Which?\n\nThe previous answer was rejected: ${said.join('; ')}`);
  });
});

describe('answerMessage', () => {
  const flat = { type: 'object', properties: { ok: { type: 'boolean' } } };
  const questions: McpQuestion[] = [
    { key: 'a', instance: 'draft@2', text: '' },
    { key: 'b', instance: 'h', text: '', form: flat },
    { key: 'c', instance: 'n', text: '', form: NESTED },
  ];
  const data = (replies: Record<string, unknown>) => answerMessage('t', questions, replies)?.parts[0]?.data;

  it('answers each question by its instance: texts as texts, forms as data', () => {
    const replies = { a: accept({ answer: 'blue' }), b: accept({ ok: true }), c: accept({ answer: '{"a":{"b":1}}' }) };
    expect(answerMessage('t', questions, replies)).toMatchObject({ taskId: 't', role: 'ROLE_USER' });
    expect(data(replies)).toEqual({ 'draft@2': 'blue', h: { ok: true }, n: { a: { b: 1 } } });
    expect(data({ c: accept({ answer: 'no JSON' }) })).toEqual({ n: 'no JSON' });
  });

  it.each([
    ['nothing', {}],
    ['what nobody asked', { z: accept({ answer: 'x' }) }],
    ['what every object has', { constructor: accept({ answer: 'x' }) }],
    ['what was declined', { a: { action: 'decline' }, b: { action: 'cancel', content: { ok: true } } }],
    ['an answer that is none', { a: accept({ answer: 1 as never }), b: 'yes', c: null }],
  ])('is none for %s', (_what, replies) => {
    expect(answerMessage('t', questions, replies)).toBeUndefined();
  });

  it('takes the JSON of an answer for no more than any JSON may be', () => {
    const nested: McpQuestion[] = [{ key: 'k', instance: 'h', text: '', form: NESTED }];
    const given = (answer: string, mostMembers?: number) =>
      answerMessage('t', nested, { k: accept({ answer }) }, mostMembers)?.parts[0]?.data;
    expect(given('{"a":{}}')).toEqual({ h: { a: {} } });
    for (const text of ['{"a":1e999}', `{"a":${'['.repeat(101)}${']'.repeat(101)}}`]) {
      expect(given(text)).toEqual({ h: text });
    }
    expect(() => given('[1,2,3,4]', 3)).toThrow('answer: has more than 3 members and elements (JSON_MEMBERS_LIMIT)');
    expect(() => given(`[${'[],'.repeat(50_000)}1]`)).toThrow('answer: has more than 50000 members');
  });

  it('answers the Task as a whole with the text', () => {
    const message = answerMessage('t', [{ key: 'task@7', text: '' }], { 'task@7': accept({ answer: 'blue' }) });
    expect(message?.parts).toEqual([expect.objectContaining({ text: 'blue' })]);
  });
});
