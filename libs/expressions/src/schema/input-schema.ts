import { Ajv, type ErrorObject, type FuncKeywordDefinition, str, type ValidateFunction } from 'ajv';
import { briefText, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { hasFormat } from './formats.js';
import { withDecimalMultiples } from './multiple-of.js';
import { SchemaCost } from './schema-cost.js';
import { SharedUse } from './shared-use.js';
import { InvalidInputSchema, Subschemas } from './subschemas.js';

export { InvalidInputSchema } from './subschemas.js';

/** One thing that is wrong with a value. */
export interface InputFault {
  /** From the value on, for example `.items[2].id`; `''` where it is the whole. */
  path: string;
  detail: string;
}

const LONGEST = 64 * 1024;
/** Of all inputs of a workflow. */
const MOST_SUBSCHEMAS = 500;
const MOST_KEYWORDS = 1_500;
const MOST_INSTRUCTIONS = 20_000;
/** What it may take at most to check the inputs of one Message. */
const MOST_STEPS = 1_000_000;

/**
 * A JSON Schema that inputs are held to: of draft 7, without names (`$id`), `uniqueItems` and keywords that nobody knows,
 * with `$ref` into itself alone and never in a circle, and with patterns that RE2 knows. Texts are held to the formats of
 * `hasFormat`, others only tell. What could take too long to compile is refused here, what could take too long to check by
 * `faults`.
 */
export class InputSchema {
  private readonly validate: ValidateFunction;
  /** Of the check that is going on. */
  private use = new SharedUse();

  private constructor(
    schema: JsonObject,
    private readonly cost: SchemaCost,
    private readonly mostFaults: number,
  ) {
    this.validate = compiled(schema, (pattern) => this.expression(pattern), mostFaults > 1);
  }

  /**
   * @param use of the workflow that the schema belongs to
   * @param mostFaults of one value that are reported
   * @throws InvalidInputSchema
   */
  static of(schema: JsonValue, use = new SharedUse(), { mostFaults = 1 } = {}): InputSchema {
    if (!isJsonObject(schema)) throw new InvalidInputSchema('must be a JSON Schema object');
    if (Buffer.byteLength(JSON.stringify(schema)) > LONGEST)
      throw new InvalidInputSchema(`must not be larger than ${LONGEST} bytes`);
    const schemas = new Subschemas(schema);
    refuseWrong(schema);
    refuseBeyond(use, 'subschemas', schemas.size, MOST_SUBSCHEMAS);
    refuseBeyond(use, 'keywords', schemas.keywords, MOST_KEYWORDS);
    const cost = new SchemaCost(schemas);
    refuseBeyond(use, 'instructions of patterns', cost.size, MOST_INSTRUCTIONS);
    return new InputSchema(schema, cost, mostFaults);
  }

  /**
   * Returns what is wrong with a value, at most `mostFaults` things. A value that takes too long to check is wrong.
   * @param use of the Message that the value came with
   */
  faults(value: JsonValue, use = new SharedUse()): InputFault[] {
    this.use = use;
    try {
      this.spend(this.cost.of(value));
      return this.validate(value) ? [] : (this.validate.errors ?? []).slice(0, this.mostFaults).map(faultOf);
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error;
      return [{ path: '', detail: error.message }];
    }
  }

  /** In characters times instructions; that is what RE2 promises in the worst case. */
  private expression(pattern: string): Expression {
    const expression = this.cost.patterns.get(pattern);
    if (expression === undefined) throw new InvalidInputSchema('has a pattern where none is known');
    const size = expression.programSize();
    return {
      test: (text) => {
        this.spend(size * (text.length + 1));
        return expression.test(text);
      },
      toString: () => pattern,
    };
  }

  private spend(steps: number): void {
    if (this.use.add('steps', steps) > MOST_STEPS) throw new TooManySteps();
  }
}

interface Expression {
  test(text: string): boolean;
  toString(): string;
}

class TooManySteps extends Error {
  constructor() {
    super(`is too large for its schema: checking it may take more than ${MOST_STEPS} steps`);
  }
}

/** Knows the schema of schemas, and is given no other. */
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

/** Ajv's own refuses the formats that it is not told of. */
const FORMAT: FuncKeywordDefinition = {
  keyword: 'format',
  type: 'string',
  schemaType: 'string',
  validate: hasFormat,
  error: { message: ({ schemaCode }) => str`must match format "${schemaCode}"` },
};

/** By an instance of its own: what one schema says is nothing to another. */
function compiled(
  schema: JsonObject,
  linearExpression: (pattern: string) => Expression,
  allErrors: boolean,
): ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    strictSchema: true,
    allErrors,
    // Would look for names that match with an expression that is not RE2's.
    allowMatchingProperties: true,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    inlineRefs: false,
    // Lists are gone through, and not written out, where that would be much to compile.
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

function faultOf({ instancePath, message = 'is not valid', keyword, params }: ErrorObject): InputFault {
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
