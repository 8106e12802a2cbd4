import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { RE2JS } from 're2js';

/** Why a schema cannot be used; the message is for its author. */
export class InvalidInputSchema extends Error {
  override readonly name = 'InvalidInputSchema';
}

/** One thing that is wrong with a value. */
export interface InputFault {
  /** From the value on, for example `.items[2].id`; `''` where it is the whole. */
  path: string;
  detail: string;
}

const LONGEST = 64 * 1024;
/** Subschemas, those behind a `$ref` counted each time they are referred to. */
const MOST_SUBSCHEMAS = 5_000;

/**
 * A JSON Schema that inputs are held to: of draft 7, without `uniqueItems` and keywords that nobody knows, with `$ref` into itself alone
 * and never in a circle, and with patterns that RE2 knows. So checking a value takes a time that its size bounds.
 */
export class InputSchema {
  private constructor(private readonly validate: ValidateFunction) {}

  /** @throws InvalidInputSchema */
  static of(schema: JsonValue): InputSchema {
    if (!isJsonObject(schema)) throw new InvalidInputSchema('must be a JSON Schema object');
    if (JSON.stringify(schema).length > LONGEST)
      throw new InvalidInputSchema(`must not be larger than ${LONGEST} bytes`);
    new Subschemas(schema).refuseTooMany();
    try {
      return new InputSchema(AJV.compile(schema));
    } catch (error) {
      throw new InvalidInputSchema(
        `is no valid JSON Schema: ${(error as Error).message.replace(/^strict mode: /, '')}`,
        { cause: error },
      );
    } finally {
      AJV.removeSchema(schema);
    }
  }

  /** What is wrong with a value; at most one thing is told. */
  faults(value: JsonValue): InputFault[] {
    return this.validate(value) ? [] : (this.validate.errors ?? []).slice(0, 1).map(faultOf);
  }
}

const AJV = new Ajv({
  strict: false,
  strictSchema: true,
  addUsedSchema: false,
  inlineRefs: false,
  logger: false,
  code: { regExp: Object.assign(linearExpression, { code: 'linearExpression' }) },
});

function linearExpression(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(pattern);
  return { test: (text) => compiled.test(text), toString: () => pattern };
}

function faultOf({ instancePath, message = 'is not valid', keyword, params }: ErrorObject): InputFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
  const allowed = keyword === 'enum' ? `: ${JSON.stringify(params['allowedValues'])}` : '';
  return { path, detail: `${message}${allowed}`.slice(0, 300) };
}

/** How many schemas a schema consists of. */
class Subschemas {
  private readonly counted = new Map<JsonValue, number>();
  private readonly open = new Set<JsonValue>();

  constructor(private readonly root: JsonObject) {}

  /** @throws InvalidInputSchema */
  refuseTooMany(): void {
    if (this.count(this.root) > MOST_SUBSCHEMAS)
      throw new InvalidInputSchema(`must not come to more than ${MOST_SUBSCHEMAS} subschemas`);
  }

  private count(value: JsonValue | undefined): number {
    if (typeof value !== 'object' || value === null) return 0;
    const known = this.counted.get(value);
    if (known !== undefined) return known;
    // Would compare every item with every other.
    if (isJsonObject(value) && value['uniqueItems'] === true)
      throw new InvalidInputSchema('must not ask for uniqueItems');
    if (this.open.has(value)) throw new InvalidInputSchema('must not refer to itself in a circle');
    this.open.add(value);
    let count = 1;
    for (const child of Object.values(value)) count += this.count(child);
    if (isJsonObject(value) && typeof value['$ref'] === 'string') count += this.count(this.target(value['$ref']));
    this.open.delete(value);
    this.counted.set(value, count);
    return count;
  }

  private target(reference: string): JsonValue | undefined {
    if (!reference.startsWith('#')) throw new InvalidInputSchema(`may refer to itself alone, not to ${reference}`);
    let found: JsonValue | undefined = this.root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      found = typeof found === 'object' && found !== null ? (found as JsonObject)[name] : undefined;
    }
    if (found === undefined) throw new InvalidInputSchema(`refers to ${reference}, which it does not have`);
    return found;
  }
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
