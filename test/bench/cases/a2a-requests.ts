import { NUMBER_MARK, type RequestTemplate } from '../load/closed-loop.ts';

export const A2A_HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

/**
 * Creates the template of a JSON-RPC call. If the parameters contain the number mark, each repetition has a different
 * number.
 */
export function rpc(path: string, method: string, params: object, expect: string): RequestTemplate {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return { method: 'POST', path, headers: A2A_HEADERS, body, expect };
}

/** Creates a Message with a new id. */
export function userMessage(text = 'hello'): object {
  return { message: { messageId: `m${NUMBER_MARK}`, role: 'ROLE_USER', parts: [{ text }] } };
}

/** Makes one JSON-RPC call and returns the result. */
export async function callAgent<T>(url: string, method: string, params: object): Promise<T> {
  const { headers, body } = rpc('', method, params, '');
  const answer = (await (await fetch(url, { method: 'POST', headers, body })).json()) as { result?: T; error?: object };
  if (answer.result === undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
}
