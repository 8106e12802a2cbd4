import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import type { JsonObject } from '#libs/protocol';

/** Returns the first fault of a tool's arguments. An invalid schema accepts all arguments. */
export function argumentFault(schema: JsonObject, args: JsonObject): string | undefined {
  try {
    const [found] = InputSchema.fromJson(schema).faults(args);
    return found && `arguments${found.path} ${found.detail}`;
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
