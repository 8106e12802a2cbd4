import { hasMoreMembers, refuseUnfitJson } from '#libs/http';
import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import { firstData, type JsonObject, jsonInText, joinedText, type JsonValue, type Part } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';

/** What an agent's answer has to be: JSON that fits a schema. */
export class StructuredAnswer {
  private readonly rules: InputSchema | undefined;

  /** @param mostMembers what the JSON may have of members and elements */
  constructor(
    readonly schema: JsonObject,
    private readonly mostMembers = DEFAULT_CONTENT_LIMITS.jsonMembers,
  ) {
    this.rules = usable(schema);
  }

  /** The value of an answer, or what is wrong with it: a sentence that begins with its path. */
  read(answer: readonly Part[]): { value: JsonValue } | { fault: string } {
    const value = firstData(answer) ?? this.jsonIn(joinedText(answer) ?? '');
    if (value === undefined) return { fault: 'output is no JSON' };
    const [fault] = this.rules?.faults(value) ?? [];
    return fault ? { fault: `output${fault.path} ${fault.detail}` } : { value };
  }

  /** What a model is told about an answer that is wrong. */
  complaint(answer: readonly Part[]): string {
    const read = this.read(answer);
    const fault = 'fault' in read ? read.fault : '';
    return `That is not what was asked for: ${fault}. Answer again, with the whole JSON document and nothing else.`;
  }

  private jsonIn(text: string): JsonValue | undefined {
    const { rules, mostMembers } = this;
    return jsonInText(text, {
      read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : parsed(json)),
      ...(rules && { fits: (value) => rules.faults(value).length === 0 }),
    });
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch {
    return undefined;
  }
}

/** A schema that was saved when more was allowed holds nobody up. */
function usable(schema: JsonObject): InputSchema | undefined {
  try {
    return InputSchema.of(schema);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
