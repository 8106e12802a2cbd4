import { publicError } from '#libs/a2a-server';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** JSON-RPC error code: the message is not a valid request. */
export const INVALID_REQUEST = -32_600;
/** JSON-RPC error code: the parameters are invalid, or another fault of the client. */
export const INVALID_PARAMS = -32_602;
/** JSON-RPC error code: the service failed. */
export const INTERNAL_ERROR = -32_603;
/** MCP error code: the client does not declare a required capability. */
const MISSING_CAPABILITY = -32_021;

/** Error that an MCP client may see. The text is safe to show; the cause was logged. */
export class McpError extends Error {
  override readonly name = 'McpError';

  constructor(
    readonly code: number,
    message: string,
    /** HTTP status of the response, unless the response is a stream. */
    readonly status = 200,
    readonly data?: JsonValue,
  ) {
    super(message);
  }
}

/** Converts any error to one for an MCP client: code -32602 for faults of the client, -32603 for all others. */
export function mcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  const known = publicError(error);
  const isCallers = known.status >= 400 && known.status < 500;
  const data: JsonObject = { details: known.toDetails() };
  return new McpError(isCallers ? INVALID_PARAMS : INTERNAL_ERROR, known.message, known.status, data);
}

/** Returns the error for a request that needs an extension which the client does not declare. */
export function missingExtension(extension: string): McpError {
  return new McpError(MISSING_CAPABILITY, 'Missing required client capability', 400, {
    requiredCapabilities: { extensions: { [extension]: {} } },
  });
}
