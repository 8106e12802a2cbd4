import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import type { JsonObject } from '#libs/protocol';

/** Returns what is wrong with the arguments of a tool. A schema that cannot be used refuses nothing. */
export function argumentFault(schema: JsonObject, args: JsonObject): string | undefined {
  try {
    const [found] = InputSchema.of(schema).faults(args);
    return found && `arguments${found.path} ${found.detail}`;
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
