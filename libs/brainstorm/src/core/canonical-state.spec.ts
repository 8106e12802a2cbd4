import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { EXAMPLE_STATE, initialState, InvalidState, readState, STATE_SCHEMA, stateJson } from './canonical-state.js';

const VALID = stateJson(initialState('idea', []));

function faults(value: JsonValue): string {
  try {
    readState(value);
  } catch (error) {
    if (error instanceof InvalidState) return error.message;
    throw error;
  }
  throw new Error('Expected it to be refused');
}

describe('readState', () => {
  it('J10 takes a state, leaves out what no state has, and never reads meta', () => {
    const risks = [{ text: 'r', severity: 'Critical', resolved: false, by: 'me' }];
    const read = readState({ ...VALID, risks, meta: 'forged', extra: 1 });
    const { meta: _, ...content } = VALID;
    expect(read).toEqual({ ...content, risks: [{ text: 'r', severity: 'critical', resolved: false }] });
  });

  it.each<[string, JsonObject]>([
    ['idea', { idea: ' ' }],
    ['architecture', { architecture: 1 }],
    ['execution_plan[0].description', { execution_plan: [{ title: 't' }] }],
    ['risks[0].severity', { risks: [{ text: 'r', severity: 'huge', resolved: false }] }],
    ['risks[0].resolved', { risks: [{ text: 'r', severity: 'low', resolved: 'no' }] }],
    ['assumptions[1]', { assumptions: ['a', null] }],
    ['open_questions', { open_questions: 'why?' }],
    ['metrics.confidence', { metrics: { confidence: 1.5 } }],
  ])('J16 refuses a bad %s by name', (path, fields) => {
    expect(faults({ ...VALID, ...fields })).toContain(`${path}: `);
  });

  it('takes lists that are missing from the state before; other members have to be there', () => {
    const { execution_plan: _plan, open_questions: _questions, idea: _idea, ...sent } = VALID;
    const before = { ...EXAMPLE_STATE, open_questions: ['why?'] };
    expect(readState({ ...sent, idea: 'new' }, before)).toMatchObject({
      idea: 'new',
      execution_plan: EXAMPLE_STATE.execution_plan,
      open_questions: ['why?'],
      risks: [],
    });
    expect(() => readState(sent, before)).toThrow('idea: must be a text');
    expect(() => readState({ ...VALID, risks: null }, before)).toThrow('risks: must be a list');
  });

  it('names at most ten faults', () => {
    const faulty = faults({ ...VALID, assumptions: Array.from({ length: 12 }, () => 7) });
    expect(faulty.split('; ')).toHaveLength(10);
  });

  it('says in our own words what a member must be', () => {
    const fields = {
      metrics: { confidence: 'x' },
      risks: [{ text: 'r', severity: 'dire', resolved: 1 }],
      assumptions: 5,
    };
    expect(faults({ ...VALID, ...fields })).toBe(
      'risks[0].severity: must be one of low, medium, high, critical; risks[0].resolved: must be true or false; ' +
        'assumptions: must be a list; metrics.confidence: must be a number',
    );
  });

  it.each([null, 'text', 7, [[]]])('J16 refuses %j', (value) => {
    expect(faults(value)).toContain('the state: ');
  });
});

describe('the schema that agents are asked for', () => {
  const schemasIn = (value: JsonValue): JsonObject[] => {
    if (Array.isArray(value)) return value.flatMap(schemasIn);
    return isJsonObject(value) ? [value, ...Object.values(value).flatMap(schemasIn)] : [];
  };

  it('bounds every text and every list, far below what is accepted', () => {
    const all = schemasIn(STATE_SCHEMA);
    const texts = all.filter(({ type, enum: words }) => type === 'string' && words === undefined);
    const lists = all.filter(({ type }) => type === 'array');
    expect([texts.length, lists.length]).toEqual([7, 4]);
    expect(texts.map((it) => it['maxLength']).toSorted()).toEqual([20_000, 600, 600, 600, 600, 600, 6_000]);
    for (const list of lists) expect(list['maxItems']).toBe(20);
  });

  it('has a confidence that a grammar can hold, and other answers are still accepted', () => {
    const confidence = schemasIn(STATE_SCHEMA).find((it) => Array.isArray(it['enum']) && it['enum'].includes(0.05));
    expect(confidence?.['enum']).toHaveLength(21);
    const assumptions = Array.from({ length: 30 }, () => 'x'.repeat(1_000));
    const read = readState({ ...VALID, assumptions, metrics: { confidence: 0.62 } });
    expect([read.metrics.confidence, read.assumptions]).toEqual([0.62, assumptions]);
  });
});
