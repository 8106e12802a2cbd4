import { InputSchema, SharedUse } from '#libs/expressions';
import {
  A2AError,
  ContentTooLarge,
  type FieldViolation,
  isFilePart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  textStart,
} from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

const USER_INPUT = '__user_input__';

/** Returns the name of an input in the run's state map and Artifacts: `__user_input__<nodeId>`. */
export function userInputName(nodeId: string): string {
  return `${USER_INPUT}${nodeId}`;
}

/** Returns the node id in a name that `userInputName` created; `undefined` for any other name. */
export function userInputNode(name: string): string | undefined {
  return name.startsWith(USER_INPUT) ? name.slice(USER_INPUT.length) : undefined;
}

/** Returns the value of an input by node id; `undefined` if it was not given. */
export function inputValue(inputs: JsonObject, nodeId: string): JsonValue | undefined {
  return Object.hasOwn(inputs, nodeId) ? inputs[nodeId] : undefined;
}

/** Returns the value of an input as text: a string as it is, any other value as JSON. */
export function inputText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the inputs of a run that begins with a Message, by node id. In order of precedence:
 * - the members of the Message's data objects that name inputs,
 * - for `input` nodes: the text of the Message,
 * - for `input` nodes: the default of the node.
 */
export function inputsOf(message: Message, definition: WorkflowDefinition): JsonObject {
  const named = message.parts.flatMap((part) => (namesInputs(part, definition) ? Object.entries(part.data) : []));
  const text = messageText(message);
  const inputs = definition.nodes.filter((node) => node.type === 'input');
  const unnamed = inputs.flatMap(({ id, config }): [string, JsonValue][] => {
    const value = text ?? config['default'];
    return value === undefined ? [] : [[id, value]];
  });
  return Object.fromEntries([...unnamed, ...named]);
}

/**
 * True for a data Part that contains inputs of a run. In a workflow without `input` nodes, the name of each member must
 * be the id of a node, or a name that a brainstorm sends (TURN_MEMBERS).
 */
function namesInputs(part: Part, { nodes }: WorkflowDefinition): part is Part & { data: JsonObject } {
  const { data } = part;
  if (!isJsonObject(data)) return false;
  if (nodes.some(({ type }) => type === 'input') || hasTurn(data)) return true;
  const names = Object.keys(data);
  return names.length <= nodes.length && names.every((name) => nodes.some(({ id }) => id === name));
}

/**
 * Returns the content of a Message that begins a run: the Parts that go to the first nodes beside its text. These are
 * its files, and its data that names no input.
 */
export function contentOf({ parts }: Message, definition: WorkflowDefinition): Part[] {
  return parts.filter((part) => isFilePart(part) || (part.data !== undefined && !namesInputs(part, definition)));
}

/** Returns the texts of a Message, joined by newlines; `undefined` if it has none. */
export function messageText({ parts }: Message): string | undefined {
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Maximum number of inputs of a run. A workflow has no more nodes than that. */
const MOST_INPUTS = 1_000;

/**
 * Rejects a Message that begins a run if the Message has too many inputs or its text is too long. The text becomes the
 * input of every `input` node, so its length counts once for each of these nodes.
 * @param limit maximum number of characters of the text, counted once for each `input` node
 * @throws ContentTooLarge if a limit is exceeded
 */
export function refuseLargeInputs({ parts }: Message, definition: WorkflowDefinition, limit: number): void {
  const { nodes } = definition;
  const named = parts.reduce(
    (sum, part) => sum + (namesInputs(part, definition) ? Object.keys(part.data).length : 0),
    0,
  );
  if (named > MOST_INPUTS) throw new ContentTooLarge(`a run has at most ${MOST_INPUTS} inputs; these are ${named}`);
  const characters = parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
  if (characters * nodes.length <= limit) return;
  const inputs = nodes.filter(({ type }) => type === 'input').length;
  if (characters * inputs > limit)
    throw ContentTooLarge.beyondLimit(
      `the text of the message as the input of ${inputs} nodes`,
      limit,
      'ARTIFACT_LIMIT',
    );
}

/**
 * Keywords that hold the address of a JSON Schema, or name its version. They are omitted when a schema is embedded in
 * another one.
 */
const PLACES = new Set(['$schema', '$id', 'id']);

/**
 * Returns the JSON Schema of a run's inputs: one object with a property for each `input` node. The schema of an input
 * is embedded without `$schema`, `$id` and `id`. Its references (`$ref`) are changed so that they still find their
 * targets inside the whole schema.
 */
export function inputsSchema(nodes: readonly WorkflowNode[]): JsonObject {
  const inputs = nodes.filter(({ type }) => type === 'input');
  const required = inputs.filter(isRequired);
  return {
    type: 'object',
    properties: Object.fromEntries(inputs.map((it) => [it.id, inputSchema(it)])),
    ...(required.length > 0 && { required: required.map(({ id }) => id) }),
  };
}

/** True if a run needs a value for this `input` node to start: the node is not optional, and has no default. */
export function isRequired({ config }: Pick<WorkflowNode, 'config'>): boolean {
  return config['optional'] !== true && config['default'] === undefined;
}

function inputSchema({ id, config }: WorkflowNode): JsonObject {
  const written = config['schema'];
  const movable = isJsonObject(written) ? movedSchema(written, `#/properties/${pointerToken(id)}`) : {};
  const schema = Object.fromEntries(Object.entries(movable).filter(([name]) => !PLACES.has(name)));
  const said = config['description'];
  return {
    description: typeof said === 'string' && said !== '' ? said : `The input of the node ${id}`,
    ...schema,
    ...(config['default'] !== undefined && { default: config['default'] }),
  };
}

/** Keywords whose value is data, which may look like a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose value is an object that contains schemas by name. */
const BY_NAME = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
  'dependentSchemas',
]);

/**
 * Returns a copy of a schema to embed at a place in another schema. The place is inserted at the beginning of each
 * reference of the copy that is a JSON Pointer, such as `#/definitions/a`. A reference to an anchor, such as `#item`,
 * finds it in the whole schema unchanged.
 * @param place JSON Pointer of the place as a URI fragment, such as `#/properties/topic`
 */
function movedSchema(schema: JsonObject, place: string): JsonObject {
  const moved = Object.entries(schema).map(([name, value]): [string, JsonValue] => {
    if (name === '$ref' && typeof value === 'string' && /^#(?:\/|$)/.test(value)) return [name, place + value.slice(1)];
    if (BY_NAME.has(name) && isJsonObject(value)) {
      const all = Object.entries(value).map(([it, sub]): [string, JsonValue] => [it, movedValue(sub, place)]);
      return [name, Object.fromEntries(all)];
    }
    return [name, DATA.has(name) ? value : movedValue(value, place)];
  });
  return Object.fromEntries(moved);
}

function movedValue(value: JsonValue, place: string): JsonValue {
  if (Array.isArray(value)) return value.map((it) => movedValue(it, place));
  return isJsonObject(value) ? movedSchema(value, place) : value;
}

/** Escapes a name for a JSON Pointer. */
function pointerToken(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Reason why an input of a run was rejected. */
type InputReason = 'MISSING_INPUT' | 'UNKNOWN_INPUT' | 'INVALID_INPUT';

/** All values of InputReason. The management API responds with 422 if an input is rejected for one of these reasons. */
export const INPUT_REASONS: ReadonlySet<string> = new Set<InputReason>([
  'MISSING_INPUT',
  'UNKNOWN_INPUT',
  'INVALID_INPUT',
]);

/** Maximum number of violations in one error. */
const MOST_VIOLATIONS = 100;

/** Finds missing, unknown and invalid inputs of a run, by the rules of the workflow's `input` nodes. */
export class InputRules {
  private readonly ids: ReadonlySet<string>;
  private readonly inputs: readonly WorkflowNode[];
  private readonly schemas = new Map<string, InputSchema>();

  constructor(private readonly definition: WorkflowDefinition) {
    this.ids = new Set(definition.nodes.map(({ id }) => id));
    this.inputs = definition.nodes.filter(({ type }) => type === 'input');
    const use = new SharedUse();
    for (const { id, config } of this.inputs) {
      const schema = InputSchema.ifValid(config['schema'], use);
      if (schema) this.schemas.set(id, schema);
    }
  }

  /**
   * Rejects a Message that begins a run if an input is missing, unknown, or violates its schema. The id of any node is
   * a known name, because an input with that name replaces the node in templates. An input without a schema is not
   * missing if the Message has other content, such as a file.
   * @param byName true if all data of the Message must be inputs, as in requests to `/api`; otherwise data may be
   * content
   * @throws A2AError INVALID_PARAMS with up to 100 violations and the reason of the first one
   */
  checkInputs(message: Message, byName = false): void {
    const inputs = inputsOf(message, this.definition);
    const content = contentOf(message, this.definition);
    const use = new SharedUse();
    const named = byName ? content.flatMap(({ data }) => (isJsonObject(data) ? Object.keys(data) : [])) : [];
    const names = isBrainstormTurn(inputs) ? [] : [...Object.keys(inputs), ...named];
    const unknown = names.filter((id) => !this.ids.has(id));
    const violations = [
      ...this.inputs
        .filter(({ id, config }) => isMissing(inputValue(inputs, id), config, content.length > 0))
        .map(({ id }) => createMissingViolation(id)),
      ...unknown.map((id) => this.createUnknownViolation(id)),
      ...[...this.schemas].flatMap(([id, schema]) => listSchemaViolations(id, schema, inputValue(inputs, id), use)),
    ].slice(0, MOST_VIOLATIONS);
    const [first] = violations;
    if (first === undefined) return;
    throw new A2AError('INVALID_PARAMS', {
      message: violations.map(({ field, description }) => `${field}: ${description}`).join('; '),
      violations,
      detailReason: first.reason,
    });
  }

  private createUnknownViolation(id: string): InputViolation {
    const known = this.inputs.map((node) => node.id).slice(0, 20);
    const list = known.length === 0 ? 'the workflow has no inputs' : `the inputs are ${known.join(', ')}`;
    return {
      field: `inputs.${textStart(id, 64)}`,
      description: `is not an input of this workflow; ${list}`,
      reason: 'UNKNOWN_INPUT',
    };
  }
}

/** Inputs that a `brainstorm` node sends to each of its agents. A workflow ignores the unknown names among them. */
const TURN_MEMBERS = ['role', 'systemPrompt', 'llmConfig', 'state'];

function isBrainstormTurn(inputs: JsonObject): boolean {
  return Object.keys(inputs).length === TURN_MEMBERS.length && hasTurn(inputs);
}

function hasTurn(inputs: JsonObject): boolean {
  return TURN_MEMBERS.every((id) => Object.hasOwn(inputs, id));
}

interface InputViolation extends FieldViolation {
  reason: InputReason;
}

function isMissing(
  value: JsonValue | undefined,
  { optional, schema }: WorkflowNode['config'],
  hasContent: boolean,
): boolean {
  return value === undefined && optional !== true && !(hasContent && schema === undefined);
}

function createMissingViolation(id: string): InputViolation {
  return { field: `inputs.${id}`, description: 'is required', reason: 'MISSING_INPUT' };
}

function listSchemaViolations(
  id: string,
  schema: InputSchema,
  value: JsonValue | undefined,
  use: SharedUse,
): InputViolation[] {
  if (value === undefined) return [];
  return schema
    .faults(value, use)
    .map(({ path, detail }) => ({ field: `inputs.${id}${path}`, description: detail, reason: 'INVALID_INPUT' }));
}
