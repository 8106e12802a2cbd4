import { AgentCallError } from '#libs/a2a-client';
import type { JsonValue } from '#libs/protocol';
import { isAnswer, isTimeout } from './failure-text.js';

/** Removes the secrets of the request from an answer or error, as a server may quote what it received. */
export async function withoutSecrets<T extends JsonValue>(
  answer: Promise<T>,
  secrets: ReadonlySet<string>,
): Promise<T> {
  try {
    const result = await answer;
    if (secrets.size === 0) return result;
    const text = JSON.stringify(result);
    const cleaned = cleanedOf(
      text,
      [...secrets].map((it) => JSON.stringify(it).slice(1, -1)),
    );
    return cleaned === text ? result : (JSON.parse(cleaned) as T);
  } catch (error) {
    const { message, code } = error as { message?: unknown; code?: unknown };
    if (!isAnswer(error) || isTimeout(error) || typeof message !== 'string') throw error;
    const cleaned = cleanedOf(message, [...secrets]);
    throw cleaned === message ? error : new AgentCallError('rpc-error', `mcp error ${String(code)}: ${cleaned}`);
  }
}

function cleanedOf(text: string, secrets: readonly string[]): string {
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '[secret]'), text);
}
