import { type CanonicalState, initialState, type Provenance, type Risk, type StateContent } from './canonical-state.js';
import { mergePass, type PassOutput } from './merge-pass.js';
import type { BrainstormRole } from './role.js';

const LONG = 'one two three four five six seven eight nine ten';
const LONGER = `${LONG} eleven`;

function state(fields: Partial<CanonicalState> = {}): CanonicalState {
  return { ...initialState('an idea', []), ...fields };
}

function output(agent: string, role: BrainstormRole, fields: Partial<StateContent>, iteration = 1): PassOutput {
  return { source: { agent, role, iteration }, state: state(fields) };
}

function merge(before: CanonicalState, outputs: PassOutput[], provenance: Provenance = {}, iteration = 1) {
  return mergePass({ iteration, history: [before], provenance, outputs });
}

const risk = (text: string, fields: Partial<Risk> = {}): Risk => ({
  text,
  severity: 'low',
  resolved: false,
  ...fields,
});

const BUILDER = { agent: 'b', role: 'build', iteration: 1 };
const REVIEWER = { agent: 'r', role: 'review', iteration: 1 };

describe('mergePass', () => {
  it('J13 unites risks, one for each normalised text, and drops the resolved', () => {
    const { state: merged, provenance } = merge(state({ risks: [risk('Old')] }), [
      output('b', 'build', { risks: [risk('It  may FAIL'), risk('Cost')] }),
      output('r', 'review', {
        risks: [risk(' it may fail ', { severity: 'critical' }), risk('cost', { resolved: true })],
      }),
    ]);
    expect(merged.risks).toEqual([risk('Old'), risk('It  may FAIL', { severity: 'critical' })]);
    expect(provenance).toMatchObject({ 'risks[1]': REVIEWER });
    expect(provenance).not.toHaveProperty('risks[0]');
  });

  it.each([
    ['先与五位会使用它的人交谈，记下他们今天的做法以及失败之处。', 1],
    ['五人の利用者に話を聞き、今日何をしているかを書き留める。', 1],
    ['พูดคุยกับผู้ใช้ห้าคนและจดบันทึกสิ่งที่พวกเขาทำในวันนี้', 1],
    ['先谈谈。', 0],
    ['well-known, state-of-the-art, e.g. this one: one two three', 0],
  ])('J13 counts the words of a script that is written without spaces: %s', (description, kept) => {
    const { state: merged } = merge(state(), [output('b', 'build', { execution_plan: [{ title: '1', description }] })]);
    expect(merged.execution_plan).toHaveLength(kept);
  });

  it('J13 makes steps of one title one, with the longer description, and drops those under ten words', () => {
    const before = state({ execution_plan: [{ title: 'Begin', description: LONG }] });
    const { state: merged, provenance } = merge(
      before,
      [
        output('b', 'build', {
          execution_plan: [
            { title: ' BEGIN', description: 'short' },
            { title: 'Nine', description: 'one two three four five six seven eight nine' },
            { title: 'Ten', description: LONG },
          ],
        }),
        output('r', 'review', { execution_plan: [{ title: 'ten', description: LONGER }] }),
      ],
      { 'execution_plan[0]': { agent: 'x', role: 'refine', iteration: 7 } },
    );
    expect(merged.execution_plan).toEqual([
      { title: 'Begin', description: LONG },
      { title: 'Ten', description: LONGER },
    ]);
    expect(provenance['execution_plan[0]']).toEqual({ agent: 'x', role: 'refine', iteration: 7 });
    expect(provenance['execution_plan[1]']).toEqual(REVIEWER);
  });

  it('keeps every assumption once; a question is open until the last agent leaves it out', () => {
    const { state: merged, provenance } = merge(state({ open_questions: ['Who pays?', 'When?'] }), [
      output('b', 'build', { assumptions: ['A'], open_questions: ['Who pays?', 'When?', 'Where?'] }),
      output('r', 'review', { assumptions: ['a ', 'B'], open_questions: ['when?', 'Where?'] }),
    ]);
    expect(merged.assumptions).toEqual(['A', 'B']);
    expect(merged.open_questions).toEqual(['When?', 'Where?']);
    expect(provenance).toMatchObject({
      'assumptions[0]': BUILDER,
      'assumptions[1]': REVIEWER,
      'open_questions[1]': BUILDER,
    });
  });

  it('L12 the last change of a text or of the confidence counts and is named; an empty text is no change', () => {
    const { state: merged, provenance } = merge(state(), [
      output('b', 'build', { architecture: 'Layers', metrics: { confidence: 0.4 } }),
      output('r', 'review', { architecture: 'layers ', idea: 'an idea', metrics: { confidence: 0.4 } }),
      output('f', 'refine', { architecture: ' ', metrics: { confidence: 0.6 } }),
    ]);
    expect(merged).toMatchObject({ idea: 'an idea', architecture: 'Layers', metrics: { confidence: 0.6 } });
    expect(provenance).toEqual({
      architecture: BUILDER,
      'metrics.confidence': { agent: 'f', role: 'refine', iteration: 1 },
    });
  });

  it('J10 meta stays what the service says, with the number of the iteration', () => {
    const agents = [{ agent_id: 'a', name: 'a', role: 'build' as const, provider: 'p', model: 'm', skills: [] }];
    const forged = { ...state(), meta: { iteration: 99, agents: [] } };
    const { state: merged } = merge(
      state({ meta: { iteration: 3, agents } }),
      [{ source: { ...REVIEWER, role: 'review' }, state: forged }],
      {},
      4,
    );
    expect(merged.meta).toEqual({ iteration: 4, agents });
  });

  it.each<[string, 'idea' | 'architecture', string[], string, number]>([
    ['changed in three iterations and came back', 'architecture', ['', 'A', 'B'], 'A', 1],
    ['changed in three iterations for something new', 'architecture', ['', 'A', 'B'], 'C', 0],
    ['changed in two and came back', 'idea', ['A', 'B'], 'A', 0],
    ['changed in three, and was there from the beginning', 'idea', ['A', 'B', ' a '], 'B', 1],
    ['left alone this time', 'architecture', ['', 'A', 'B', 'A'], 'A', 0],
    ['changed once more', 'architecture', ['', 'A', 'B', 'A'], 'B', 1],
  ])('J13 a field that was %s', (_, field, values, value, questions) => {
    const history = values.map((it) => state({ [field]: it }));
    const outputs = [output('b', 'build', { ...history.at(-1), [field]: value })];
    const { open_questions } = mergePass({ iteration: values.length, history, provenance: {}, outputs }).state;
    const question = `The agents keep changing "${field}" back and forth: what shall it be?`;
    expect(open_questions).toEqual(Array(questions).fill(question));
  });
});
