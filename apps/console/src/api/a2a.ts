import { call } from './http.js';

/** The version of the protocol that the console speaks. */
const HEADERS = { 'a2a-version': '1.0' };

/** Calls the REST binding of an agent of this service. @param base such as `/a2a/workflows/greeting` @throws ApiProblem */
export function callAgent<T>(method: string, base: string, path: string, body?: unknown): Promise<T> {
  return call<T>(method, `${base}${path}`, { headers: HEADERS, ...(body !== undefined && { body }) });
}
