import { Ajv, type ErrorObject, type FuncKeywordDefinition, str, type ValidateFunction } from 'ajv';
import { briefText, isJsonObject, type JsonObject, type JsonValue, readTimestamp } from '#libs/protocol';
import { SharedUse } from '../evaluation.js';
import { withDecimalMultiples } from './multiple-of.js';
import { SchemaCost } from './schema-cost.js';
import { InvalidInputSchema, Subschemas } from './subschemas.js';

/**
 * Pattern of an email address, as HTML defines it for browsers. Labels have a maximum length, which bounds
 * backtracking.
 */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** Maximum length of an email address (RFC 5321). */
const LONGEST_EMAIL = 320;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;
/** Characters that a URI must not contain. Characters beyond ASCII are allowed, as in the address bar of a browser. */
const NOT_IN_A_URI = /[\s\p{Cc}"<>\\^`{|}]|%(?![\da-f]{2})/iu;

/**
 * Values of `format` that are enforced; any other value is only informative. `time` is not enforced, as pydantic, zod
 * and browsers write times without the offset that draft 7 requires.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text) => readTimestamp(`${text}T00:00:00Z`) !== undefined],
  ['date-time', (text) => readTimestamp(text) !== undefined],
  ['email', (text) => text.length <= LONGEST_EMAIL && EMAIL.test(text)],
  ['uri', (text) => SCHEME.test(text) && !NOT_IN_A_URI.test(text)],
  ['uuid', (text) => UUID.test(text)],
]);

/** True if a text conforms to a `format`. Any text conforms to an unknown format. The time is linear in the text. */
function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format)?.(text) ?? true;
}

export { InvalidInputSchema } from './subschemas.js';

/** Violation of a schema by a value, with the path where it is in the value. */
export interface InputFault {
  /** Path in the value, for example `.items[2].id`; `''` for the value itself. */
  path: string;
  detail: string;
}

const LONGEST = 64 * 1024;
/** Maximum number of subschemas of all inputs of a workflow together. */
const MOST_SUBSCHEMAS = 500;
const MOST_KEYWORDS = 1_500;
const MOST_INSTRUCTIONS = 20_000;
/** Maximum cost of checking all inputs of one Message, in the steps that SchemaCost computes. */
const MOST_STEPS = 1_000_000;

/**
 * JSON Schema (draft 7) that validates an input.
 * - `$id`, `uniqueItems: true` and unknown keywords are refused.
 * - `$ref` points into the schema itself, without cycles: to a place, or to an `$anchor`.
 * - Patterns are regular expressions of RE2. Of the values of `format`, those in FORMATS are enforced.
 * - `fromJson` refuses a schema that could take too long to compile; `faults` refuses a value that could take too long
 *   to check.
 */
export class InputSchema {
  private readonly validate: ValidateFunction;
  /** Amounts that the inputs of the current Message have used; the check in progress adds its own. */
  private use = new SharedUse();

  private constructor(
    schema: JsonObject,
    private readonly cost: SchemaCost,
    private readonly mostFaults: number,
  ) {
    this.validate = compileValidator(schema, (pattern) => this.meterPattern(pattern), mostFaults > 1);
  }

  /**
   * Compiles a schema.
   * @param use amounts used by the other schemas of the same workflow
   * @param mostFaults maximum number of violations that `faults` reports for one value
   * @throws InvalidInputSchema
   */
  static fromJson(schema: JsonValue, use = new SharedUse(), { mostFaults = 1 } = {}): InputSchema {
    if (!isJsonObject(schema)) throw new InvalidInputSchema('must be a JSON Schema object');
    if (Buffer.byteLength(JSON.stringify(schema)) > LONGEST)
      throw new InvalidInputSchema(`must not be larger than ${LONGEST} bytes`);
    const schemas = new Subschemas(schema);
    refuseWrong(schema);
    refuseBeyond(use, 'subschemas', schemas.size, MOST_SUBSCHEMAS);
    refuseBeyond(use, 'keywords', schemas.keywords, MOST_KEYWORDS);
    const cost = new SchemaCost(schemas);
    refuseBeyond(use, 'instructions of patterns', cost.size, MOST_INSTRUCTIONS);
    return new InputSchema(schemas.withoutAnchors(schema), cost, mostFaults);
  }

  /**
   * Compiles a schema as `fromJson` does. Returns `undefined` if the schema is absent or invalid; a stored schema may
   * be invalid because it was saved under older rules.
   */
  static ifValid(
    schema: JsonValue | undefined,
    use?: SharedUse,
    options?: { mostFaults: number },
  ): InputSchema | undefined {
    if (schema === undefined) return undefined;
    try {
      return InputSchema.fromJson(schema, use, options);
    } catch (error) {
      if (error instanceof InvalidInputSchema) return undefined;
      throw error;
    }
  }

  /**
   * Returns the violations of a value, at most `mostFaults`; none if it conforms. A value that could take too long to
   * check is reported as one violation.
   * @param use amounts used by the other inputs of the same Message
   */
  faults(value: JsonValue, use = new SharedUse()): InputFault[] {
    this.use = use;
    try {
      this.spendSteps(this.cost.countSteps(value));
      return this.validate(value) ? [] : (this.validate.errors ?? []).slice(0, this.mostFaults).map(toInputFault);
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error;
      return [{ path: '', detail: error.message }];
    }
  }

  /**
   * Returns a pattern whose every match adds to the cost of the check: characters times instructions, the worst case
   * of RE2.
   */
  private meterPattern(pattern: string): LinearPattern {
    const expression = this.cost.patterns.get(pattern);
    if (expression === undefined) throw new InvalidInputSchema('has a pattern where none is known');
    const size = expression.programSize();
    return {
      test: (text) => {
        this.spendSteps(size * (text.length + 1));
        return expression.test(text);
      },
      toString: () => pattern,
    };
  }

  private spendSteps(steps: number): void {
    if (this.use.add('steps', steps) > MOST_STEPS) throw new TooManySteps();
  }
}

interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

class TooManySteps extends Error {
  constructor() {
    super(`is too large for its schema: checking it may take more than ${MOST_STEPS} steps`);
  }
}

/** Validator of schemas against the meta-schema of draft 7. */
const DRAFT_7 = new Ajv({ strict: false, validateFormats: false, logger: false });

function refuseWrong(schema: JsonObject): void {
  const draft = DRAFT_7.getSchema('http://json-schema.org/draft-07/schema');
  if (draft === undefined) throw new TypeError('the schema of schemas is not there');
  if (draft(schema) !== true)
    throw new InvalidInputSchema(`is no valid JSON Schema: ${briefText(DRAFT_7.errorsText(draft.errors), 300)}`);
}

function refuseBeyond(use: SharedUse, unit: string, amount: number, limit: number): void {
  if (use.add(`input schemas: ${unit}`, amount) > limit)
    throw new InvalidInputSchema(`must not have, with those of the other inputs, more than ${limit} ${unit}`);
}

/** Keyword `format`. It replaces the keyword of Ajv, which refuses unknown formats. */
const FORMAT: FuncKeywordDefinition = {
  keyword: 'format',
  type: 'string',
  schemaType: 'string',
  validate: hasFormat,
  error: { message: ({ schemaCode }) => str`must match format "${schemaCode}"` },
};

/** Compiles a schema with a new Ajv instance, so that schemas do not affect each other. */
function compileValidator(
  schema: JsonObject,
  linearExpression: (pattern: string) => LinearPattern,
  allErrors: boolean,
): ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    strictSchema: true,
    allErrors,
    // With `false`, Ajv would match property names with an expression that is not of RE2.
    allowMatchingProperties: true,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    inlineRefs: false,
    // Above these lengths Ajv loops over lists and does not unroll them, which bounds the compiled code.
    loopRequired: 10,
    loopEnum: 10,
    logger: false,
    code: { regExp: Object.assign(linearExpression, { code: 'linearExpression' }) },
  });
  withDecimalMultiples(ajv).removeKeyword('format').addKeyword(FORMAT);
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new InvalidInputSchema(
      `is no valid JSON Schema: ${briefText((error as Error).message.replace(/^strict mode: /, ''), 300)}`,
      { cause: error },
    );
  }
}

function toInputFault({ instancePath, message = 'is not valid', keyword, params }: ErrorObject): InputFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
  const meant = keyword === 'enum' ? params['allowedValues'] : params['additionalProperty'];
  const named = meant === undefined ? '' : `: ${JSON.stringify(meant)}`;
  return { path, detail: briefText(`${message}${named}`, 300) };
}
