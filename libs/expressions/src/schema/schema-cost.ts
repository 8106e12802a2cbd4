import { RE2JS } from 're2js';
import { briefText, isJsonObject, type JsonValue } from '#libs/protocol';
import { countRepetitions } from '../functions/patterns.js';
import { InvalidInputSchema, type Subschema, type Subschemas } from './subschemas.js';

/** White space of ECMA-262, as ranges for a character class. `\s` of RE2 covers ASCII alone. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = [
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}`,
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`,
].join('');
const ANY = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** Syntax of RE2 that JavaScript lacks: quoted parts (`\Q`), and the flag `s` within a pattern. */
const ONLY_RE2 = /\\Q|\(\?[a-zA-Z-]*s/;

/**
 * Translates a regular expression for RE2, so that `\s`, `\S` and `.` have the meaning of ECMA-262, as JSON Schema
 * requires: a no-break space is white space, and `.` matches no line terminator. A pattern with syntax of RE2 alone
 * (`\Q`, the flag `s`) is returned unchanged.
 */
export function ecmaPattern(pattern: string): string {
  if (ONLY_RE2.test(pattern)) return pattern;
  let [translated, inClass] = ['', false];
  for (let index = 0; index < pattern.length; index += 1) {
    const one = pattern.charAt(index);
    if (one === '\\') {
      index += 1;
      translated += translateEscape(pattern.charAt(index), inClass);
    } else if (inClass && pattern.startsWith('[:', index) && pattern.includes(':]', index)) {
      const end = pattern.indexOf(':]', index) + 2;
      translated += pattern.slice(index, end);
      index = end - 1;
    } else {
      // At the start of a class, a closing bracket stands for itself.
      const begins = !inClass && one === '[';
      const negates = begins && pattern.charAt(index + 1) === '^';
      const first = begins
        ? (negates ? '[^' : '[') + (pattern.charAt(index + (negates ? 2 : 1)) === ']' ? ']' : '')
        : one;
      inClass = begins || (inClass && one !== ']');
      translated += first === '.' && !inClass ? ANY : first;
      index += first.length - 1;
    }
  }
  return translated;
}

function translateEscape(letter: string, inClass: boolean): string {
  const ranges = letter === 's' ? SPACE : letter === 'S' ? NO_SPACE : undefined;
  if (ranges === undefined) return `\\${letter}`;
  return inClass ? ranges : `[${ranges}]`;
}

const MOST_EXPANDED = 5_000;
const MOST_NESTED = 50;
const LONGEST_PATTERN = 1_000;
/** Maximum size of a pattern: its characters times the repetitions in it. A larger pattern may take long to compile. */
const MOST_REPEATED = 100_000;
const MOST_INSTRUCTIONS = 20_000;

/** Number of members of `enum`, `const` or `required` that cost as much as one keyword. */
const MEMBERS_PER_STEP = 20;
/** Number of characters of a value that cost as much as one value without characters. */
const CHARACTERS_PER_STEP = 32;

/** Cost of one subschema, including the subschemas inside it and the subschema to which its `$ref` points. */
interface Weight {
  subschemas: number;
  /** Steps for each checked value, without the cost of patterns. */
  steps: number;
  nested: number;
}

/**
 * Upper limit of the cost of checking a value against a schema, in steps that take about the same time each. It does
 * not contain the cost of patterns, which InputSchema adds for each match (see `size`).
 */
export class SchemaCost {
  /** Compiled patterns by source. */
  readonly patterns = new Map<string, RE2JS>();
  /** Number of instructions of all patterns together. */
  size = 0;
  private readonly weights = new Map<Subschema, Weight>();
  private readonly open = new Set<Subschema>();
  private readonly weight: Weight;

  /**
   * @throws InvalidInputSchema if the schema refers to itself in a circle, or exceeds a limit for subschemas or
   * patterns
   */
  constructor(private readonly schemas: Subschemas) {
    for (const { schema, place } of schemas.allSubschemas())
      for (const it of patternsOf(schema)) this.addPattern(it, place);
    this.weight = this.weighSubschema(schemas.root);
  }

  countSteps(value: JsonValue): number {
    const { values, characters } = measureValue(value);
    const looked = values + Math.ceil(characters / CHARACTERS_PER_STEP);
    return this.weight.steps * looked;
  }

  private weighSubschema(it: Subschema): Weight {
    const known = this.weights.get(it);
    if (known !== undefined) return known;
    if (this.open.has(it)) throw new InvalidInputSchema('must not refer to itself in a circle');
    this.open.add(it);
    for (const definition of it.definitions) this.weighSubschema(definition);
    const sum: Weight = { subschemas: 1, steps: keywordSteps(it.schema), nested: 0 };
    const target = this.schemas.resolveReference(it);
    for (const part of target ? [...it.children, target] : it.children) {
      const { subschemas, steps, nested } = this.weighSubschema(part);
      sum.subschemas += subschemas;
      sum.steps += steps;
      sum.nested = Math.max(sum.nested, nested + 1);
    }
    if (sum.subschemas > MOST_EXPANDED)
      throw new InvalidInputSchema(
        `must not come to more than ${MOST_EXPANDED} subschemas, those behind a $ref counted each time`,
      );
    if (sum.nested > MOST_NESTED)
      throw new InvalidInputSchema(
        `must not be nested deeper than ${MOST_NESTED} schemas, those behind a $ref included`,
      );
    this.open.delete(it);
    this.weights.set(it, sum);
    return sum;
  }

  private addPattern(pattern: string, place: string): void {
    const at = briefText(place, 200);
    if (pattern.length > LONGEST_PATTERN)
      throw new InvalidInputSchema(`must not have a pattern of more than ${LONGEST_PATTERN} characters (${at})`);
    if (pattern.length * countRepetitions(pattern) > MOST_REPEATED)
      throw new InvalidInputSchema(
        `must not have a pattern of more than ${MOST_REPEATED} characters times repetitions (${at})`,
      );
    if (this.patterns.has(pattern)) return;
    const compiled = compiledPattern(pattern, at);
    this.patterns.set(pattern, compiled);
    this.size += compiled.programSize();
    if (this.size > MOST_INSTRUCTIONS)
      throw new InvalidInputSchema(`must not have patterns of more than ${MOST_INSTRUCTIONS} instructions (${at})`);
  }
}

function compiledPattern(pattern: string, at: string): RE2JS {
  try {
    return RE2JS.compile(ecmaPattern(pattern));
  } catch (error) {
    throw new InvalidInputSchema(`is no valid JSON Schema: RE2 does not know the pattern (${at})`, { cause: error });
  }
}

function patternsOf(schema: JsonValue): string[] {
  if (!isJsonObject(schema)) return [];
  const { pattern, patternProperties } = schema;
  const names = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  return [...(typeof pattern === 'string' ? [pattern] : []), ...names];
}

function keywordSteps(schema: JsonValue): number {
  if (!isJsonObject(schema)) return 2 + Math.ceil(measureValue(schema).values / MEMBERS_PER_STEP);
  const { enum: allowed, const: only, required } = schema;
  const members = [allowed, only, required].reduce<number>(
    (sum, it) => sum + (it === undefined ? 0 : measureValue(it).values),
    0,
  );
  return 2 + Object.keys(schema).length + Math.ceil(members / MEMBERS_PER_STEP);
}

/** Counts the values and characters in a value. The name of a member counts like a value, with its characters. */
function measureValue(value: JsonValue): { values: number; characters: number } {
  const size = { values: 0, characters: 0 };
  const rest: JsonValue[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    size.values += 1;
    if (typeof next === 'string') size.characters += next.length;
    else if (Array.isArray(next)) for (const item of next) rest.push(item);
    else if (isJsonObject(next)) {
      for (const [name, item] of Object.entries(next)) {
        size.values += 1;
        size.characters += name.length;
        rest.push(item);
      }
    }
  }
  return size;
}
