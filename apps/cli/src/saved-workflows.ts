import type { components } from '#libs/client';
import type { Session } from './session.js';

export type SavedWorkflow = components['schemas']['WorkflowView'];

/** Returns all workflows of the service, by name, over all pages. */
export async function savedWorkflows({ client, signal }: Pick<Session, 'client' | 'signal'>): Promise<SavedWorkflow[]> {
  const found: SavedWorkflow[] = [];
  for (let last: string | undefined = ''; last !== undefined;) {
    const query: Record<string, string> = last === '' ? {} : { pageToken: last };
    const page: SavedWorkflow[] = await client.call('/api/workflows', { query, signal });
    // An earlier version of the service has no pages, and returns all workflows again.
    if (page.some(({ name }) => name === found[0]?.name)) return found;
    found.push(...page);
    // The page token is the last name of the page before; the page after the last is empty.
    last = page.at(-1)?.name;
  }
  return found;
}
