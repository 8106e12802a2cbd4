import type { JsonObject, JsonValue } from '#libs/protocol';

export interface ToolContext {
  /** Aborts when the call's Task is canceled or the process stops. */
  signal: AbortSignal;
}

/** Something that `tool` nodes can do. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12 vocabulary that ajv reads) of `args`; they are checked against it before `run`. */
  readonly parameters: JsonObject;
  /** Whether it does no harm to run twice: then a run that a crash cut is done again, else it fails. */
  readonly repeatable: boolean;
  /** @throws NodeFailure where the caller may know the reason */
  run(args: JsonObject, context: ToolContext): JsonValue | Promise<JsonValue>;
}
