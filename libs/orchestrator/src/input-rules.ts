import { InputSchema, InvalidInputSchema, SharedUse } from '#libs/expressions';
import {
  A2AError,
  type FieldViolation,
  type JsonObject,
  type JsonValue,
  type Message,
  textStart,
} from '#libs/protocol';
import { inputsOf, inputValue } from './run-inputs.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

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
      const schema = readUsableSchema(config['schema'], use);
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
      description: `is no input of this workflow; ${list}`,
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

/** Returns the compiled schema. Ignores one that was saved under wider limits, so that it does not prevent a run. */
function readUsableSchema(schema: JsonValue | undefined, use: SharedUse): InputSchema | undefined {
  if (schema === undefined) return undefined;
  try {
    return InputSchema.fromJson(schema, use);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
