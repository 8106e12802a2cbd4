import { hasMoreMembers, refuseUnfitJson } from '#libs/http';
import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import { firstData, type JsonObject, jsonInText, joinedText, type JsonValue, type Part } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';

/** Rules that the JSON of an answer is held to; a path goes from the value on, such as `.items[2]`. */
export interface AnswerRules {
  faults(value: JsonValue): { path: string; detail: string }[];
}

/** Faults of one answer that a model is told. */
const MOST_FAULTS = 10;

/** What the JSON of an answer is held to in place of the schema that the model is asked for. */
export interface AnswerLimits {
  rules?: AnswerRules;
  /** JSON Schema (draft 7) that stands for `rules`. */
  accepts?: JsonObject;
  /** Members and elements that the JSON may have. */
  mostMembers?: number;
}

/** What an answer has to be: JSON that fits a schema. */
export class StructuredAnswer {
  private readonly rules: AnswerRules | undefined;
  private readonly mostMembers: number;

  /** @param schema what models are asked for, and what the JSON is held to unless the limits say otherwise */
  constructor(
    readonly schema: JsonObject,
    { accepts = schema, rules = usable(accepts), mostMembers }: AnswerLimits = {},
  ) {
    this.rules = rules;
    this.mostMembers = mostMembers ?? DEFAULT_CONTENT_LIMITS.jsonMembers;
  }

  /** Returns the value of an answer, or its first ten faults: one phrase each, which begins with its path. */
  read(answer: readonly Part[]): { value: JsonValue } | { fault: string } {
    const value = firstData(answer) ?? this.jsonIn(joinedText(answer) ?? '');
    if (value === undefined) return { fault: 'output is no JSON' };
    const faults = this.rules?.faults(value).slice(0, MOST_FAULTS) ?? [];
    if (faults.length === 0) return { value };
    return { fault: faults.map(({ path, detail }) => `output${path} ${detail}`).join('; ') };
  }

  /** Returns the faults of each of some answers that is wrong. */
  faultsOf(answers: readonly (readonly Part[])[]): string[] {
    return answers.map((answer) => this.read(answer)).flatMap((read) => ('fault' in read ? [read.fault] : []));
  }

  /** Returns what a model is told about an answer that is wrong. */
  complaint(answer: readonly Part[]): string {
    const [fault = ''] = this.faultsOf([answer]);
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
    return InputSchema.of(schema, undefined, { mostFaults: MOST_FAULTS });
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
