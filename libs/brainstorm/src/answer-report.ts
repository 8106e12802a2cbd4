import { BRAINSTORM_ENTRY } from '#libs/executor';
import { briefText, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Tokens that a model used, as its agent counts them. */
export interface AgentTokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** Report of an agent on the answers of its model that led to a state. */
export interface AnswerReport {
  /** Faults of each answer that the agent sent back to its model, before the state. */
  repairs: string[];
  usage?: AgentTokenUsage;
}

const MOST_REPAIRS = 10;
const LONGEST_FAULTS = 2_000;

/** Returns the report in the metadata of an Artifact. Only its form is validated. */
export function answerReport(metadata: JsonObject | undefined): AnswerReport {
  const report = metadata?.[BRAINSTORM_ENTRY];
  if (!isJsonObject(report)) return { repairs: [] };
  const { repairs, usage } = report;
  const texts = Array.isArray(repairs) ? repairs.filter((it) => typeof it === 'string') : [];
  const tokens = usageIn(usage);
  return {
    repairs: texts.slice(0, MOST_REPAIRS).map((text) => briefText(text, LONGEST_FAULTS)),
    ...(tokens && { usage: tokens }),
  };
}

/** Returns the sum of two counts. */
export function addedUsage(
  before: AgentTokenUsage | undefined,
  { inputTokens, outputTokens }: AgentTokenUsage,
): AgentTokenUsage {
  return {
    inputTokens: (before?.inputTokens ?? 0) + inputTokens,
    outputTokens: (before?.outputTokens ?? 0) + outputTokens,
  };
}

function usageIn(value: JsonValue | undefined): AgentTokenUsage | undefined {
  if (!isJsonObject(value)) return undefined;
  const { inputTokens, outputTokens } = value;
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
