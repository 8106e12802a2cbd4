import { publicError } from '#libs/a2a-server';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** Error codes of JSON-RPC and MCP. */
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
const MISSING_CAPABILITY = -32_021;

/** Error that an MCP client may see. Its text is safe; the cause was logged. */
export class McpError extends Error {
  override readonly name = 'McpError';

  constructor(
    readonly code: number,
    message: string,
    /** HTTP status, used while the answer is not yet a stream. */
    readonly status = 200,
    readonly data?: JsonValue,
  ) {
    super(message);
  }
}

/** Converts any error for an MCP client: -32602 for faults of the client, -32603 for all others. */
export function mcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  const known = publicError(error);
  const isCallers = known.status >= 400 && known.status < 500;
  const data: JsonObject = { details: known.toDetails() };
  return new McpError(isCallers ? INVALID_PARAMS : INTERNAL_ERROR, known.message, known.status, data);
}

/** Returns the error for a request that needs an extension the client does not declare. */
export function missingExtension(extension: string): McpError {
  return new McpError(MISSING_CAPABILITY, 'Missing required client capability', 400, {
    requiredCapabilities: { extensions: { [extension]: {} } },
  });
}
