import { hasMoreMembers, refuseUnfitJson, tooManyMembers } from '#libs/http';
import { type Artifact, dataPart, firstData, jsonInText, type JsonValue, joinedText } from '#libs/protocol';
import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import type { WorkflowNode } from './workflow.js';

/** Error for a node result that violates its definition. Its message may be shown to callers. */
export class InvalidOutput extends Error {
  override readonly name = 'InvalidOutput';
}

/** Rules for a node's result (`output`; `config.schema` of an `output` node). */
export class OutputRules {
  private static readonly known = new WeakMap<WorkflowNode, OutputRules>();
  private readonly schema: InputSchema | undefined;

  private constructor(private readonly node: WorkflowNode) {
    this.schema = usableSchema(node.output?.schema ?? (node.type === 'output' ? node.config['schema'] : undefined));
  }

  /** Returns the rules of a node of a definition. They are read once. */
  static forNode(node: WorkflowNode): OutputRules {
    const rules = OutputRules.known.get(node) ?? new OutputRules(node);
    OutputRules.known.set(node, rules);
    return rules;
  }

  /**
   * Returns the result to store; with `parse`, the JSON of its text is added as data.
   * @param mostMembers limit of members and elements of that JSON
   * @throws InvalidOutput
   */
  applyRules(artifacts: Artifact[], mostMembers: number): Artifact[] {
    const kept = this.node.output?.parse === true ? this.withData(artifacts, mostMembers) : artifacts;
    const [fault] = this.schema?.faults(resultValue(kept[0])) ?? [];
    if (fault) throw new InvalidOutput(`the output${fault.path} ${fault.detail}`);
    return kept;
  }

  private withData(artifacts: Artifact[], mostMembers: number): Artifact[] {
    const [first, ...others] = artifacts;
    if (first !== undefined && firstData(first.parts) !== undefined) return artifacts;
    const text = first && joinedText(first.parts);
    if (first === undefined || text === undefined) throw new InvalidOutput('the output has no text to read JSON from');
    const { schema } = this;
    const data = jsonInText(text, {
      read: (json) => parseOutput(json, mostMembers),
      ...(schema && { fits: (value) => schema.faults(value).length === 0 }),
    });
    if (data === undefined) throw new InvalidOutput('the output has no JSON in its text');
    return [{ ...first, parts: [...first.parts, dataPart(data)] }, ...others];
  }
}

/** Returns a result as a value: its data, else its text. */
function resultValue(artifact: Artifact | undefined): JsonValue {
  if (artifact === undefined) return null;
  return firstData(artifact.parts) ?? joinedText(artifact.parts) ?? null;
}

/** @throws InvalidOutput for JSON with too many members */
function parseOutput(text: string, mostMembers: number): JsonValue | undefined {
  if (hasMoreMembers(text, mostMembers)) throw new InvalidOutput(`the output's JSON ${tooManyMembers(mostMembers)}`);
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch {
    return undefined;
  }
}

/** Returns the schema; `undefined` for one that an earlier version accepted and this one rejects. */
function usableSchema(schema: JsonValue | undefined): InputSchema | undefined {
  if (schema === undefined) return undefined;
  try {
    return InputSchema.fromJson(schema);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
