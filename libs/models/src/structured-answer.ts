import { hasMoreMembers, refuseUnfitJson } from '#libs/http';
import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import { firstData, type JsonObject, jsonInText, joinedText, type JsonValue, type Part } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';

/** Rules for the JSON of an answer. Paths are relative to the value, such as `.items[2]`. */
export interface AnswerRules {
  faults(value: JsonValue): { path: string; detail: string }[];
}

/** Maximum number of faults that a model is told about one answer. */
const MOST_FAULTS = 10;

/** Rules that replace the schema that the model is asked for. */
export interface AnswerLimits {
  rules?: AnswerRules;
  /** JSON Schema (draft 7) in place of `rules`. */
  accepts?: JsonObject;
  /** Maximum number of members and elements of the JSON. */
  mostMembers?: number;
}

/** Required form of an answer: JSON that conforms to a schema. */
export class StructuredAnswer {
  private readonly rules: AnswerRules | undefined;
  private readonly mostMembers: number;

  /** @param schema schema for the model; the answer is validated against it unless the limits say otherwise */
  constructor(
    readonly schema: JsonObject,
    { accepts = schema, rules = usableSchema(accepts), mostMembers }: AnswerLimits = {},
  ) {
    this.rules = rules;
    this.mostMembers = mostMembers ?? DEFAULT_CONTENT_LIMITS.jsonMembers;
  }

  /** Returns the value of an answer, or its first ten faults: one phrase each, beginning with its path. */
  readValue(answer: readonly Part[]): { value: JsonValue } | { fault: string } {
    const value = firstData(answer) ?? this.jsonIn(joinedText(answer) ?? '');
    if (value === undefined) return { fault: 'output is no JSON' };
    const faults = this.rules?.faults(value).slice(0, MOST_FAULTS) ?? [];
    if (faults.length === 0) return { value };
    return { fault: faults.map(({ path, detail }) => `output${path} ${detail}`).join('; ') };
  }

  /** Returns the faults of all answers that have any. */
  faultsOf(answers: readonly (readonly Part[])[]): string[] {
    return answers.map((answer) => this.readValue(answer)).flatMap((read) => ('fault' in read ? [read.fault] : []));
  }

  /** Returns the message to a model about a wrong answer. */
  complaintAbout(answer: readonly Part[]): string {
    const [fault = ''] = this.faultsOf([answer]);
    return `That is not what was asked for: ${fault}. Answer again, with the whole JSON document and nothing else.`;
  }

  private jsonIn(text: string): JsonValue | undefined {
    const { rules, mostMembers } = this;
    return jsonInText(text, {
      read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : parseFitJson(json)),
      ...(rules && { fits: (value) => rules.faults(value).length === 0 }),
    });
  }
}

function parseFitJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch {
    return undefined;
  }
}

/** Compiles a schema. Answers are not validated by a schema that was saved under other rules and is invalid now. */
function usableSchema(schema: JsonObject): InputSchema | undefined {
  try {
    return InputSchema.fromJson(schema, undefined, { mostFaults: MOST_FAULTS });
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
