import { PublicFault } from '#libs/faults';
import { briefText, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Error of a JSON Schema that is invalid or too costly. The message is for the author of the workflow. */
export class InvalidInputSchema extends PublicFault {
  override readonly name = 'InvalidInputSchema';

  override get kind(): 'invalid' {
    return 'invalid';
  }
}

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set(
  'additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf propertyNames then'.split(
    ' ',
  ),
);
/** Keywords whose value is an object with a schema for each name. */
const BY_NAME: ReadonlySet<string> = new Set('$defs definitions dependencies patternProperties properties'.split(' '));
const OTHERS: ReadonlySet<string> = new Set(
  '$anchor $comment $ref $schema const contentEncoding contentMediaType default deprecated description enum examples exclusiveMaximum exclusiveMinimum format maxItems maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf nullable pattern readOnly required title type uniqueItems writeOnly'.split(
    ' ',
  ),
);
/** Keywords that describe a value and do not restrict it. */
const DESCRIBING: ReadonlySet<string> = new Set(
  '$anchor $comment $schema contentEncoding contentMediaType default deprecated description examples readOnly title writeOnly'.split(
    ' ',
  ),
);
/**
 * Pattern of supported values of `$ref`: `#` or `#/…`. Implementations disagree about other spellings of the same
 * reference.
 */
const REFERENCE = /^#(?:\/(?:[\w.$@:-]|~[01])+)*$/;
/** Pattern of the name of an anchor, as JSON Schema 2019-09 defines it. */
const ANCHOR = /^[A-Za-z_][\w.-]{0,99}$/;
const DIALECT = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/;

const MOST_SUBSCHEMAS = 500;
const MOST_NESTED = 50;

/** Schema within a schema, or the whole schema itself (`root`). */
export interface Subschema {
  /** Place in the whole schema: a JSON Pointer that begins with `#`. */
  place: string;
  schema: JsonValue;
  /**
   * Subschemas inside this subschema that apply whenever this subschema applies. Subschemas that apply only through a
   * `$ref` are in `definitions`.
   */
  children: Subschema[];
  definitions: Subschema[];
}

/**
 * All subschemas of a schema, by place. A `$ref` resolves to one of them. The constructor refuses keywords that would
 * change the meaning of a `$ref`, such as `$id`.
 */
export class Subschemas {
  readonly root: Subschema;
  private readonly places = new Map<string, Subschema>();
  /** Paths of the subschemas with an `$anchor`, by the anchor's name. */
  private readonly anchors = new Map<string, string>();
  /** Number of names in the lists of `dependencies`. Each name costs as much as a subschema. */
  private names = 0;
  /** Number of keywords that restrict values, summed over all subschemas. */
  keywords = 0;

  /** @throws InvalidInputSchema if the schema contains what InputSchema refuses, such as an unknown keyword */
  constructor(schema: JsonObject) {
    const { $schema } = schema;
    if ($schema !== undefined && !(typeof $schema === 'string' && DIALECT.test($schema)))
      throw new InvalidInputSchema('must be of draft 7, http://json-schema.org/draft-07/schema');
    this.root = this.readSubschema(schema, '#', 0);
  }

  get size(): number {
    return this.places.size + this.names;
  }

  allSubschemas(): Iterable<Subschema> {
    return this.places.values();
  }

  /**
   * Returns the subschema that the `$ref` of a subschema points to, if it has one.
   * @throws InvalidInputSchema if the `$ref` is not supported, or points to no subschema
   */
  resolveReference({ schema }: Subschema): Subschema | undefined {
    if (!isJsonObject(schema) || typeof schema['$ref'] !== 'string') return undefined;
    const reference = schema['$ref'];
    const shown = briefText(reference, 200);
    if (!reference.startsWith('#')) throw new InvalidInputSchema(`may refer to itself alone, not to ${shown}`);
    const place = this.anchors.get(reference.slice(1)) ?? reference;
    if (place === reference && !REFERENCE.test(reference))
      throw new InvalidInputSchema(`may refer to places such as #/definitions/name, not to ${shown}`);
    const found = this.places.get(place);
    if (found === undefined || Array.isArray(found.schema))
      throw new InvalidInputSchema(`refers to ${shown}, which is no schema of it`);
    return found;
  }

  /**
   * Returns the schema without anchors, as draft 7 has none: a reference to an anchor becomes a reference to its
   * subschema's path.
   */
  withoutAnchors(schema: JsonObject): JsonObject {
    return this.anchors.size === 0 ? schema : (this.plainSchema(schema) as JsonObject);
  }

  private plainSchema(schema: JsonValue): JsonValue {
    if (Array.isArray(schema)) return schema.map((it) => this.plainSchema(it));
    if (!isJsonObject(schema)) return schema;
    const plain = Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] => {
      if (keyword === '$anchor') return [];
      if (keyword === '$ref' && typeof value === 'string')
        return [[keyword, this.anchors.get(value.slice(1)) ?? value]];
      if (BY_NAME.has(keyword) && isJsonObject(value)) {
        const named = Object.entries(value).map(([name, it]): [string, JsonValue] => [name, this.plainSchema(it)]);
        return [[keyword, Object.fromEntries(named)]];
      }
      return [[keyword, SCHEMAS.has(keyword) ? this.plainSchema(value) : value]];
    });
    return Object.fromEntries(plain);
  }

  private readAnchor({ $anchor: anchor }: JsonObject, place: string): void {
    if (anchor === undefined) return;
    if (typeof anchor !== 'string' || !ANCHOR.test(anchor))
      throw new InvalidInputSchema(`has an $anchor that is no name (${briefText(place, 200)})`);
    if (this.anchors.has(anchor)) throw new InvalidInputSchema(`has two places with the $anchor ${anchor}`);
    this.anchors.set(anchor, place);
  }

  private readSubschema(schema: JsonValue, place: string, depth: number): Subschema {
    const read: Subschema = { place, schema, children: [], definitions: [] };
    this.places.set(place, read);
    if (Array.isArray(schema)) this.names += schema.length;
    if (this.size > MOST_SUBSCHEMAS)
      throw new InvalidInputSchema(`must not have more than ${MOST_SUBSCHEMAS} subschemas`);
    if (depth > MOST_NESTED) throw new InvalidInputSchema(`must not be nested deeper than ${MOST_NESTED} schemas`);
    if (!isJsonObject(schema)) return read;
    this.readAnchor(schema, place);
    for (const [keyword, value] of Object.entries(schema)) {
      const at = `${place}/${escapePointer(keyword)}`;
      refuseKeyword(keyword, value, at);
      if (!DESCRIBING.has(keyword)) this.keywords += 1;
      const found = subschemasOf(keyword, value, at).map((it) => this.readSubschema(it.schema, it.place, depth + 1));
      (keyword === 'definitions' || keyword === '$defs' ? read.definitions : read.children).push(...found);
    }
    return read;
  }
}

function refuseKeyword(keyword: string, value: JsonValue, at: string): void {
  const shown = at.length > 200 ? `…${at.slice(-200)}` : at;
  if (!SCHEMAS.has(keyword) && !BY_NAME.has(keyword) && !OTHERS.has(keyword))
    throw new InvalidInputSchema(`is no valid JSON Schema here: it must not have ${briefText(keyword, 64)} (${shown})`);
  // `uniqueItems` compares every item with every other.
  if (keyword === 'uniqueItems' && value === true)
    throw new InvalidInputSchema(`must not ask for uniqueItems (${shown})`);
}

function subschemasOf(keyword: string, value: JsonValue, at: string): { place: string; schema: JsonValue }[] {
  if (BY_NAME.has(keyword) && isJsonObject(value))
    return Object.entries(value).map(([name, schema]) => ({ place: `${at}/${escapePointer(name)}`, schema }));
  if (!SCHEMAS.has(keyword)) return [];
  if (!Array.isArray(value)) return [{ place: at, schema: value }];
  return value.map((schema, index) => ({ place: `${at}/${index}`, schema }));
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
