import { AgentCallError } from '#libs/a2a-client';
import type { JsonObject } from '#libs/protocol';
import { isAnswer, isTimeout } from './failure-text.js';

/** What a server answered, without the proof that it was called with: it may quote what it was sent. */
export async function withoutSecrets(answer: Promise<JsonObject>, secrets: ReadonlySet<string>): Promise<JsonObject> {
  try {
    const result = await answer;
    if (secrets.size === 0) return result;
    const text = JSON.stringify(result);
    const cleaned = cleanedOf(
      text,
      [...secrets].map((it) => JSON.stringify(it).slice(1, -1)),
    );
    return cleaned === text ? result : (JSON.parse(cleaned) as JsonObject);
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
