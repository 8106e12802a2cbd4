import { type Part, textPart } from '#libs/protocol';
import { droppedData, strayParts } from './form-answer.js';
import { InputSchema } from './input-schema.js';

const FORM = InputSchema.fromJson({ type: 'object' });
const text = textPart('x');
const data: Part = { data: { ok: true } };
const file: Part = { url: 'http://a.test/x' };

describe.each([
  ['with a form', FORM, 'is no part of the answer, which is one data Part'],
  ['without a form', undefined, 'is no part of the answer, which is text'],
])('an answer %s', (_name, form, description) => {
  const fieldsOf = (found: { field: string; description: string }[]): string[] => {
    expect(found.map((it) => it.description)).toEqual(found.map(() => description));
    return found.map(({ field }) => field);
  };
  const strict: [Part[], string[], string[]][] = [
    [[text], [], []],
    [[text, text], [], []],
    [[data], [], ['parts[0]']],
    [[data, data], ['parts[1]'], ['parts[0]', 'parts[1]']],
    [[text, data], ['parts[0]'], ['parts[1]']],
    [[data, file], ['parts[1]'], ['parts[0]', 'parts[1]']],
    [[file], ['parts[0]'], ['parts[0]']],
  ];

  it.each(strict)('has nothing in it but what was asked for: %j', (parts, withForm, without) => {
    expect(fieldsOf(strayParts(form, parts))).toEqual(form ? withForm : without);
  });

  const lenient: [Part[], string[], string[]][] = [
    [[data], [], []],
    [[data, data], ['parts[1]'], ['parts[1]']],
    [[text, data], [], ['parts[1]']],
    [[data, text, data], ['parts[2]'], ['parts[0]', 'parts[2]']],
    [[text, file], [], []],
  ];

  it.each(lenient)('leaves out no data that nobody would miss: %j', (parts, withForm, without) => {
    expect(droppedData(form, parts).map(({ field }) => field)).toEqual(form ? withForm : without);
  });
});
