import { InputSchema, SharedUse } from '#libs/expressions';
import {
  A2AError,
  ContentTooLarge,
  type FieldViolation,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  textStart,
} from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

const USER_INPUT = '__user_input__';

/** Returns the name of an input in a run's state and Artifacts. */
export function userInputName(nodeId: string): string {
  return `${USER_INPUT}${nodeId}`;
}

/** Returns the node id of a name from `userInputName`; `undefined` for other names. */
export function userInputNode(name: string): string | undefined {
  return name.startsWith(USER_INPUT) ? name.slice(USER_INPUT.length) : undefined;
}

/** Returns the value of an input; `undefined` if it was not given. */
export function inputValue(inputs: JsonObject, nodeId: string): JsonValue | undefined {
  return Object.hasOwn(inputs, nodeId) ? inputs[nodeId] : undefined;
}

/** Returns the text of an input: a string as it is, any other value as JSON. */
export function inputText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the inputs of a run that begins with a Message: the keys of its data objects by node id, its text for every
 * other `input` node, else the default of the node.
 */
export function inputsOf(message: Message, definition: WorkflowDefinition): JsonObject {
  const named = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.entries(data) : []));
  const text = messageText(message);
  const inputs = definition.nodes.filter((node) => node.type === 'input');
  const unnamed = inputs.flatMap(({ id, config }): [string, JsonValue][] => {
    const value = text ?? config['default'];
    return value === undefined ? [] : [[id, value]];
  });
  return Object.fromEntries([...unnamed, ...named]);
}

/** Returns the texts of a Message, joined by newlines; `undefined` if it has none. */
export function messageText({ parts }: Message): string | undefined {
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Number of inputs of a run; a workflow has at most as many nodes. */
const MOST_INPUTS = 1_000;

/**
 * Rejects a Message whose inputs together are too large: its text becomes the input of every `input` node, and each key
 * of its data an input.
 * @throws ContentTooLarge
 */
export function refuseLargeInputs({ parts }: Message, { nodes }: WorkflowDefinition, limit: number): void {
  const named = parts.reduce((sum, { data }) => sum + (isJsonObject(data) ? Object.keys(data).length : 0), 0);
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

/** Members that locate a schema; they do not apply to an embedded copy. */
const PLACES = new Set(['$schema', '$id', 'id']);

/**
 * Returns the JSON Schema of a run's inputs: one object with a property for each `input` node. The schema of an input
 * is embedded as written, unless it contains a `$ref`.
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

/** True if a run cannot start without the input. */
export function isRequired({ config }: Pick<WorkflowNode, 'config'>): boolean {
  return config['optional'] !== true && config['default'] === undefined;
}

function inputSchema({ id, config }: WorkflowNode): JsonObject {
  const written = config['schema'];
  const movable = isJsonObject(written) && !hasReference(written) ? written : {};
  const schema = Object.fromEntries(Object.entries(movable).filter(([name]) => !PLACES.has(name)));
  const said = config['description'];
  return {
    description: typeof said === 'string' && said !== '' ? said : `The input of the node ${id}`,
    ...schema,
    ...(config['default'] !== undefined && { default: config['default'] }),
  };
}

function hasReference(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, it]) => name === '$ref' || hasReference(it as JsonValue));
}

/** Reason for the rejection of inputs. */
export type InputReason = 'MISSING_INPUT' | 'UNKNOWN_INPUT' | 'INVALID_INPUT';

/** Detail reasons for which the management API answers 422. */
export const INPUT_REASONS: ReadonlySet<string> = new Set<InputReason>([
  'MISSING_INPUT',
  'UNKNOWN_INPUT',
  'INVALID_INPUT',
]);

/** Maximum number of violations in one error. */
const MOST_VIOLATIONS = 100;

/** Rules that a workflow's `input` nodes set for the inputs of a run. */
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
   * Rejects a Message that lacks an input, names an unknown one, or gives one that violates its schema. The id of any
   * node is known, since an input of that name replaces the node in templates.
   * @throws A2AError INVALID_PARAMS with up to 100 violations, and the first one's reason
   */
  checkInputs(message: Message): void {
    const inputs = inputsOf(message, this.definition);
    const use = new SharedUse();
    const unknown = isBrainstormTurn(inputs) ? [] : Object.keys(inputs).filter((id) => !this.ids.has(id));
    const violations = [
      ...this.inputs
        .filter(({ id, config }) => isMissing(inputValue(inputs, id), config))
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

/** Members that a brainstorm sends to each of its agents. A workflow ignores those that it does not know. */
const TURN_MEMBERS = ['role', 'systemPrompt', 'llmConfig', 'state'];

function isBrainstormTurn(inputs: JsonObject): boolean {
  return Object.keys(inputs).length === TURN_MEMBERS.length && TURN_MEMBERS.every((id) => id in inputs);
}

interface InputViolation extends FieldViolation {
  reason: InputReason;
}

function isMissing(value: JsonValue | undefined, { optional }: WorkflowNode['config']): boolean {
  return value === undefined && optional !== true;
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
