import { type Artifact, isJsonObject, joinedText, type JsonObject, type JsonValue } from '#libs/protocol';

/** Maximum number of characters of the results that the last event of a run repeats. */
const MOST_RESULT = 256 * 1024;
const COUNTS = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
  'reasoningTokens',
] as const;

/** Tokens of one turn, by the name of the model. */
export class TurnUsage {
  private readonly models = new Map<string, Map<string, number>>();

  /** Adds the tokens of a `model.response` or `model.error`. A response without `usage` adds nothing. */
  addCall({ model, usage }: JsonObject): void {
    if (!isJsonObject(usage) || typeof model !== 'string') return;
    const sums = this.models.get(model) ?? new Map<string, number>();
    this.models.set(model, sums);
    for (const name of COUNTS) {
      const count = usage[name];
      if (typeof count === 'number') sums.set(name, (sums.get(name) ?? 0) + count);
    }
  }

  /** Returns the member `usage` of the last event of a run; empty if no call has reported its tokens. */
  toMember(): JsonObject {
    const usage = [...this.models].map(([model, sums]): JsonObject => {
      const counts: JsonObject = Object.fromEntries(sums);
      return { model, ...counts, totalTokens: (sums.get('inputTokens') ?? 0) + (sums.get('outputTokens') ?? 0) };
    });
    return usage.length === 0 ? {} : { usage };
  }
}

/** Results of a Task: texts and data of its Artifacts, by name. Results beyond MOST_RESULT are left out altogether. */
export class TaskResults {
  private readonly values = new Map<string, JsonValue>();
  private size = 0;

  addArtifact({ artifactId, name = artifactId, parts }: Artifact, append: boolean): void {
    const text = joinedText(parts);
    const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
    const value = data.length > 0 ? (data.length === 1 ? data[0]! : data) : text;
    if (value === undefined || this.size > MOST_RESULT) return;
    this.size += typeof value === 'string' ? value.length : JSON.stringify(value).length;
    if (this.size > MOST_RESULT) return this.values.clear();
    const known = this.values.get(name);
    const isContinued = append && typeof known === 'string' && typeof value === 'string';
    this.values.set(name, isContinued ? known + value : value);
  }

  /** Returns the member `result` of the last event of a run; empty without results. */
  toMember(): JsonObject {
    return this.values.size === 0 ? {} : { result: Object.fromEntries(this.values) };
  }
}
