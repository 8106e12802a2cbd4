import { answerPart, type Form, type GivenAnswer, typedAnswer } from './form-answer.js';

const LANG: Form = { required: ['lang'], properties: { lang: { enum: ['de', 'en'] }, note: { type: 'string' } } };
const COUNT: Form = { required: ['count'], properties: { count: { type: 'number' } } };
const SURE: Form = { required: ['sure'], properties: { sure: { type: 'boolean' } } };
const PAIR: Form = { required: ['lang', 'count'], properties: { ...LANG.properties, ...COUNT.properties } };
const OPTIONAL: Form = { properties: { name: { type: 'string' } } };

function given(text?: string, input: readonly string[] = [], data?: string): GivenAnswer {
  return { text, input, data };
}

describe('answerPart', () => {
  it.each<[what: string, form: Form | undefined, answer: GivenAnswer, data: unknown]>([
    ['a bare word', LANG, given('de'), { lang: 'de' }],
    ['a number', COUNT, given('3'), { count: 3 }],
    ['a boolean', SURE, given('true'), { sure: true }],
    ['a word for a boolean, which the service refuses', SURE, given('perhaps'), { sure: 'perhaps' }],
    ['a word for the only field, which is optional', OPTIONAL, given('Ada'), { name: 'Ada' }],
    ['JSON as a text', PAIR, given('{"lang":"de","count":2}'), { lang: 'de', count: 2 }],
    ['fields', PAIR, given(undefined, ['lang=de', 'count=3']), { lang: 'de', count: 3 }],
    ['fields without a form', undefined, given(undefined, ['count=3', 'other:=4']), { count: '3', other: 4 }],
    ['JSON', PAIR, given(undefined, [], '{"lang":"en","count":1}'), { lang: 'en', count: 1 }],
  ])('reads %s as data', (_, form, answer, data) => {
    expect(answerPart(form, answer)).toMatchObject({ data });
  });

  it('reads a text without a form as a text', () => {
    expect(answerPart(undefined, given('de'))).toMatchObject({ text: 'de' });
  });

  it('refuses a text for a form of two required fields, and names the options', () => {
    expect(() => answerPart(PAIR, given('de'))).toThrow('answer it with -i lang=de -i count=1, or with --data');
  });

  it.each([
    ['none', given()],
    ['two', given('de', ['lang=de'])],
    ['three', given('de', ['lang=de'], '{}')],
  ])('refuses %s of the three', (_, answer) => {
    expect(() => answerPart(LANG, answer)).toThrow('Give exactly one answer: a text, -i or --data');
  });

  it('refuses JSON that cannot be parsed, by the name of its option', () => {
    expect(() => answerPart(LANG, given(undefined, [], '{'))).toThrow('--data is not valid JSON');
  });
});

describe('typedAnswer', () => {
  it.each<[line: string, answer: Partial<GivenAnswer>]>([
    ['de', { text: 'de', input: [] }],
    ['-i lang=de', { input: ['lang=de'] }],
    ['-i lang=de and more -i count:=3', { input: ['lang=de and more', 'count:=3'] }],
    ['--data {"lang":"de"}', { data: '{"lang":"de"}' }],
    ['-i think so', { text: '-i think so' }],
    ['--database', { text: '--database' }],
  ])('reads %j', (line, answer) => {
    expect(typedAnswer(line)).toMatchObject(answer);
  });
});
