import type { JsonObject, JsonValue } from '#libs/protocol';

export interface ToolContext {
  /** Aborts when the call's Task is canceled or the process stops. */
  signal: AbortSignal;
}

/** Tool that nodes may run. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12 vocabulary that ajv reads) of `args`, which are validated before `runTool`. */
  readonly parameters: JsonObject;
  /** True if a second run does no harm. A run interrupted by a crash is then repeated; otherwise it fails. */
  readonly repeatable: boolean;
  /** @throws NodeFailure if the caller may know the reason */
  runTool(args: JsonObject, context: ToolContext): JsonValue | Promise<JsonValue>;
}
