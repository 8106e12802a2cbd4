import type { JsonObject } from '#libs/protocol';

export function listedTools(): JsonObject[];
export function callTool(name: string, args?: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
