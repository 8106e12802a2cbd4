import { StructuredAnswer } from './models.js';

const NUMBERS = { type: 'array', items: { type: 'number' } };

const said = (text: string) => [{ text }];

describe('StructuredAnswer', () => {
  it('names at most ten faults of an answer, each with its path', () => {
    const answer = new StructuredAnswer(NUMBERS);
    expect(answer.readValue(said('["a", 2, "c"]'))).toEqual({
      fault: 'output[0] must be number; output[2] must be number',
    });
    const complaint = answer.complaintAbout(said(JSON.stringify(Array(40).fill('a'))));
    expect(complaint.match(/must be number/g)).toHaveLength(10);
  });

  it('holds an answer to rules of its own where there are some', () => {
    const rules = { faults: (value: unknown) => (value === 7 ? [] : [{ path: '', detail: 'must be seven' }]) };
    const answer = new StructuredAnswer(NUMBERS, { rules });
    expect(answer.readValue(said('7'))).toEqual({ value: 7 });
    expect(answer.readValue(said('[1]'))).toEqual({ fault: 'output must be seven' });
    expect(new StructuredAnswer(NUMBERS, { accepts: {} }).readValue(said('"x"'))).toEqual({ value: 'x' });
  });
});
