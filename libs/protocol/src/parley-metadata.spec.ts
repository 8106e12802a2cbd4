import type { JsonValue } from './json.js';
import { FORM_EXTENSION, formMessage, formQuestion } from './parley-metadata.js';

const reference = { taskId: 't', contextId: 'c' };

describe('what a Message that asks says of the answer', () => {
  it('is read as it was written', () => {
    const question = { form: { type: 'string' }, assignee: 'me', deadline: '2030-01-01T00:00:00.000Z' };
    const violations = [{ field: 'answer', description: 'is wrong' }];
    const message = formMessage(reference, 'Well?', { ...question, violations });
    expect(message).toMatchObject({ role: 'ROLE_AGENT', taskId: 't', extensions: [FORM_EXTENSION] });
    expect(formQuestion(message)).toEqual({ ...question, violations });
    expect(formQuestion(formMessage(reference, 'Well?', {}))).toEqual({});
  });

  it.each<[JsonValue, object | undefined]>([
    [null, undefined],
    ['text', undefined],
    [{ form: 'text', assignee: 5, deadline: {}, violations: 'x' }, {}],
    [{ violations: [null, { field: 1, description: 'd' }, { field: 'f' }] }, {}],
    [{ violations: [null, { field: 'f', description: 'd' }] }, { violations: [{ field: 'f', description: 'd' }] }],
  ])('%j, which anybody may have written, is %j', (said, expected) => {
    expect(formQuestion({ metadata: { [FORM_EXTENSION]: said } })).toEqual(expected);
  });

  it('is nothing where a Message says nothing', () => {
    expect(formQuestion(undefined)).toBeUndefined();
    expect(formQuestion({})).toBeUndefined();
  });
});
