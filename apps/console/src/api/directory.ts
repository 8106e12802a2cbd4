import { getJson } from './http.js';
import type { Rows } from './use-pages.js';

/** An agent that this service serves. */
export interface DirectoryAgent {
  /** Path of the agent below `/a2a`; empty for the service's root agent. */
  path: string;
  name: string;
  description: string;
  url: string;
}

/**
 * Fetches a page of the directory of served agents, in a stable order.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function directoryPage(
  token: string | undefined,
  signal: AbortSignal,
  pageSize = 200,
): Promise<Rows<DirectoryAgent>> {
  const query = new URLSearchParams({ pageSize: String(pageSize), ...(token !== undefined && { pageToken: token }) });
  const page = await getJson<{ agents: DirectoryAgent[]; nextPageToken: string }>(`/a2a/agents?${query}`, signal);
  return { rows: page.agents, nextPageToken: page.nextPageToken };
}

/** Returns the path of a served agent's URL. */
export function baseOf(path: string): string {
  return path === '' ? '/a2a' : `/a2a/${path}`;
}
