import type { components } from '#libs/client';
import type { Session } from './session.js';

export type SavedWorkflow = components['schemas']['WorkflowView'];

/** All workflows of the service, by name, however many pages they are. */
export async function savedWorkflows({ client, signal }: Pick<Session, 'client' | 'signal'>): Promise<SavedWorkflow[]> {
  const found: SavedWorkflow[] = [];
  for (let last: string | undefined = ''; last !== undefined;) {
    const query: Record<string, string> = last === '' ? {} : { pageToken: last };
    const page: SavedWorkflow[] = await client.call('/api/workflows', { query, signal });
    // A service of an earlier version knows no pages, and gives all of them again.
    if (page.some(({ name }) => name === found[0]?.name)) return found;
    found.push(...page);
    // The token of a page is the name that the page before ended with; after the last page there is an empty one.
    last = page.at(-1)?.name;
  }
  return found;
}
