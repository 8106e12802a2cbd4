import { A2A_ERRORS, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

export const MAX_SLEEP_MS = 24 * 60 * 60 * 1000;
const CONTENT_KEYS = ['text', 'raw', 'url', 'data'];
const EXTRA_KEYS: Readonly<Record<string, readonly string[]>> = { status: ['text'], throw: ['text'] };

type StepRule = (value: JsonValue, step: JsonObject) => string | undefined;

const RULES: Readonly<Record<string, StepRule>> = {
  status: (value, { text }) =>
    value === 'working' && (text === undefined || typeof text === 'string')
      ? undefined
      : 'must be "working", with a text or without',
  artifact: artifactProblem,
  echo: (value) => (value === true ? undefined : 'must be true'),
  sleep: (value) =>
    typeof value === 'number' && value >= 0 && value <= MAX_SLEEP_MS
      ? undefined
      : `must be 0 to ${MAX_SLEEP_MS} milliseconds`,
  reply: partsProblem,
  ask: textProblem,
  authorize: textProblem,
  complete: (value) =>
    typeof value === 'string' || value === true || value === null ? undefined : 'must be a text, or true for none',
  fail: textProblem,
  reject: textProblem,
  throw: (value, { text }) =>
    typeof value === 'string' && Object.hasOwn(A2A_ERRORS, value) && (text === undefined || typeof text === 'string')
      ? undefined
      : `must be one of ${Object.keys(A2A_ERRORS).join(', ')}, with a text or without`,
};

/** Returns the problem of a step, as a sentence without its path; `undefined` if it is valid. */
export function stepProblem(step: JsonValue): string | undefined {
  if (!isJsonObject(step)) return 'must be an object';
  const [key, ...others] = Object.keys(step).filter((it) => it in RULES);
  const extra = key === undefined ? [] : (EXTRA_KEYS[key] ?? []);
  const unknown = Object.keys(step).filter((it) => it !== key && !extra.includes(it) && !others.includes(it));
  if (key === undefined || others.length > 0 || unknown.length > 0) {
    return `must have exactly one of ${Object.keys(RULES).join(', ')}`;
  }
  const problem = RULES[key]?.(step[key] ?? null, step);
  return problem && `${key} ${problem}`;
}

function textProblem(value: JsonValue): string | undefined {
  return typeof value === 'string' ? undefined : 'must be a text';
}

function artifactProblem(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return 'must be an object';
  for (const key of ['artifactId', 'name', 'description']) {
    if (value[key] !== undefined && typeof value[key] !== 'string') return `${key} must be a text`;
  }
  for (const key of ['append', 'lastChunk']) {
    if (value[key] !== undefined && typeof value[key] !== 'boolean') return `${key} must be true or false`;
  }
  return partsProblem(value.parts ?? null);
}

/** Returns why a value is no list of Parts for an Artifact or a Message. */
export function partsProblem(value: JsonValue): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'must have at least one part';
  return value.every(isPart) ? undefined : `parts must each have exactly one of ${CONTENT_KEYS.join(', ')}`;
}

function isPart(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  const contents = CONTENT_KEYS.filter((key) => part[key] !== undefined);
  const [content = ''] = contents;
  return contents.length === 1 && (content === 'data' || typeof part[content] === 'string');
}
