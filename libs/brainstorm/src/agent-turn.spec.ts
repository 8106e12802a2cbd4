import { Ajv, type ErrorObject } from 'ajv';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { BASE_PROMPT, systemPrompt } from './agent-turn.js';
import { ACCEPTED_STATE_SCHEMA, EXAMPLE_STATE, InvalidState, readState, STATE_SCHEMA } from './core/canonical-state.js';

const BUILD = { base: undefined, role: 'build', skillWords: [] } as const;

/** Values each of which has the wrong type for some members. */
const WRONG: readonly JsonValue[] = [
  null,
  7,
  -1,
  'words',
  '',
  true,
  {},
  [7],
  Array(1001).fill('x'),
  'x'.repeat(100_001),
];

function shapeIn(prompt: string): JsonObject {
  return JSON.parse(/this JSON Schema: (.*)$/m.exec(prompt)?.[1] ?? '') as JsonObject;
}

function faultOf(state: JsonValue): string | undefined {
  try {
    readState(state);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidState) return error.message;
    throw error;
  }
}

/** Returns the path to every member of a value, at any depth. */
function pathsIn(value: JsonValue): (string | number)[][] {
  if (!isJsonObject(value) && !Array.isArray(value)) return [];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.flatMap(([key, member]) => [[key], ...pathsIn(member as JsonValue).map((rest) => [key, ...rest])]);
}

function withMember(value: JsonValue, [key, ...rest]: (string | number)[], member: JsonValue | undefined): JsonValue {
  if (key === undefined) return member ?? null;
  const copy = structuredClone(value) as JsonObject;
  if (member === undefined && rest.length === 0) delete copy[key];
  else copy[key] = withMember(copy[key] ?? null, rest, member);
  return copy;
}

/** Returns the path of an error in the form that the rules of the state use. */
function placeOf({ instancePath, params, keyword }: ErrorObject): string {
  const missing = keyword === 'required' ? `/${String(params['missingProperty'])}` : '';
  return (
    `${instancePath}${missing}`
      .slice(1)
      .replace(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.') || 'the state'
  );
}

describe('systemPrompt', () => {
  test('J8 is base, role, skills and the form of the answer, with an empty line between them', () => {
    const skillWords = ['Know security.', ' ', 'Know cost.'];
    const parts = systemPrompt({ ...BUILD, skillWords }).split('\n\n');
    const role = expect.stringMatching(/^Your role is to build/);
    const shape = expect.stringMatching(/^Answer with the whole changed state/);
    expect(parts).toEqual([BASE_PROMPT, role, 'Know security.', 'Know cost.', shape]);
  });

  test('the words of a caller replace the base, and not the form of the answer', () => {
    const prompt = systemPrompt({ base: 'My base.', role: 'review', skillWords: [] });
    expect(prompt).toMatch(/^My base\.\n\nYour role is to review/);
    expect(shapeIn(prompt)).toEqual(STATE_SCHEMA);
    expect(prompt).toContain(JSON.stringify(EXAMPLE_STATE));
  });

  test('what was wrong with the last answer ends the prompt', () => {
    const prompt = systemPrompt({ ...BUILD, faults: 'invalid state: risks[0]: must be an object' });
    expect(prompt.split('\n\n').at(-1)).toMatch(/^Your last answer .*: risks\[0\]: must be an object\. Answer again/);
    expect(prompt.startsWith(systemPrompt(BUILD))).toBe(true);
  });

  test('the schema in the prompt refuses every member that is refused, and takes the example', () => {
    const ajv = new Ajv({ allErrors: true, strict: false });
    const validate = ajv.compile(shapeIn(systemPrompt(BUILD)));
    const example = EXAMPLE_STATE as unknown as JsonObject;
    expect([validate(example), faultOf(example)]).toEqual([true, undefined]);
    const refused = new Set<string>();
    for (const path of pathsIn(example)) {
      for (const wrong of [undefined, ...WRONG]) {
        const state = withMember(example, path, wrong);
        const fault = faultOf(state);
        if (fault === undefined) continue;
        expect(validate(state)).toBe(false);
        const places = fault.split('; ').map((it) => it.split(': ')[0]);
        expect((validate.errors ?? []).map(placeOf)).toEqual(expect.arrayContaining(places));
        for (const place of places) refused.add(place ?? '');
      }
    }
    expect(refused.size).toBeGreaterThan(15);
  });

  test('answers that are mended without asking again are accepted, and those that are refused are not', () => {
    const accepts = new Ajv({ strict: false }).compile(ACCEPTED_STATE_SCHEMA);
    const example = EXAMPLE_STATE as unknown as JsonObject;
    const [risk] = EXAMPLE_STATE.risks;
    const { risks: _risks, ...listless } = example;
    const mended = [example, listless, { ...example, meta: 1 }, { ...example, risks: [{ ...risk, severity: 'High' }] }];
    expect(mended.map((it) => [accepts(it), readState(it, EXAMPLE_STATE).idea])).toEqual(
      mended.map(() => [true, EXAMPLE_STATE.idea]),
    );
    const { idea: _idea, ...nameless } = example;
    const refused: JsonObject[] = [nameless, { ...example, risks: ['rain'] }, { ...example, idea: '' }];
    expect(refused.map((it) => accepts(it))).toEqual([false, false, false]);
  });
});
