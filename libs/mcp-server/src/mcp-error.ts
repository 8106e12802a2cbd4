import { publicError } from '#libs/a2a-server';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** Codes of JSON-RPC and MCP that errors of ours have there. */
export const INVALID_REQUEST = -32_600;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
const MISSING_CAPABILITY = -32_021;

/** An error that an MCP client may see: its text is safe, and what caused it was logged. */
export class McpError extends Error {
  override readonly name = 'McpError';

  constructor(
    readonly code: number,
    message: string,
    /** What HTTP says, where the answer is not a stream yet. */
    readonly status = 200,
    readonly data?: JsonValue,
  ) {
    super(message);
  }
}

/** What an MCP client is told of any error. What it did wrong is -32602; whatever else is a fault of ours is -32603. */
export function mcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  const known = publicError(error);
  const isCallers = known.status >= 400 && known.status < 500;
  const data: JsonObject = { details: known.details() };
  return new McpError(isCallers ? INVALID_PARAMS : INTERNAL_ERROR, known.message, known.status, data);
}

/** Asked of the extension by a client that does not declare it. */
export function missingExtension(extension: string): McpError {
  return new McpError(MISSING_CAPABILITY, 'Missing required client capability', 400, {
    requiredCapabilities: { extensions: { [extension]: {} } },
  });
}
