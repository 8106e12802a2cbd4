import { stringify } from 'yaml';
import type { Schemas } from '#libs/client';
import { isJsonObject } from '#libs/protocol';
import { CommandError } from './exit-code.js';
import type { Session } from './session.js';

export type SavedWorkflow = Schemas['WorkflowView'];

/** Returns all saved workflows of the service, by name, over all pages. */
export async function savedWorkflows({ client, signal }: Pick<Session, 'client' | 'signal'>): Promise<SavedWorkflow[]> {
  const found: SavedWorkflow[] = [];
  for (let last: string | undefined = ''; last !== undefined;) {
    const query: Record<string, string> = last === '' ? {} : { pageToken: last };
    const page: SavedWorkflow[] = await client.call('/api/workflows', { query, signal });
    // An earlier version of the service has no pages, and returns all workflows again for any token.
    if (page.some(({ name }) => name === found[0]?.name)) return found;
    found.push(...page);
    // The page token is the last name of the previous page. The page after the last one is empty.
    last = page.at(-1)?.name;
  }
  return found;
}

/** Returns all saved workflows of the service by name. */
export async function savedByName(session: Session): Promise<Map<string, SavedWorkflow>> {
  return new Map((await savedWorkflows(session)).map((view) => [view.name, view]));
}

/** Returns a saved workflow without the members that only the service sets. */
export function definitionOf(view: SavedWorkflow): Record<string, unknown> {
  const { revision: _revision, createdAt: _created, updatedAt: _updated, ...definition } = view;
  return { ...definition };
}

export type DefinitionFormat = 'yaml' | 'json';

/** Parses the name of a file format, if given. @throws CommandError for an unknown format */
export function readFormat(format: string | undefined): DefinitionFormat | undefined {
  if (format === undefined || format === 'yaml' || format === 'json') return format;
  throw new CommandError(`--format ${format}: must be yaml or json`);
}

/** Formats a definition as the text of a file. */
export function definitionText(definition: unknown, format: DefinitionFormat): string {
  return format === 'json' ? `${JSON.stringify(definition, null, 2)}\n` : stringify(definition, { lineWidth: 100 });
}

/** Definition with the variable references (`${env:NAME}`) of its file. */
export interface KeptReferences {
  definition: unknown;
  /**
   * Paths of values where the file refers to a variable, but the service has another value than that variable, for
   * example `nodes[1].config.model`.
   */
  replaced: string[];
}

/**
 * Returns a saved definition as its file should contain it: where the file has a variable reference (`${env:NAME}`) and
 * the service has the variable's value, the reference stays. Nodes are matched by id, so their order may differ.
 * @param saved definition of the service
 * @param written contents of the file, with variable references
 * @param filled contents of the file, with the values of the variables
 */
export function keepReferences(saved: unknown, written: unknown, filled: unknown): KeptReferences {
  const replaced: string[] = [];
  const keepAt = (value: unknown, before: unknown, after: unknown, path: string): unknown => {
    if (typeof before === 'string') {
      if (value === after) return before;
      if (before !== after) replaced.push(path);
      return value;
    }
    if (Array.isArray(value) && Array.isArray(before) && Array.isArray(after)) {
      return value.map((entry, index) => {
        const place = matchingIndex(entry, index, after);
        return keepAt(entry, before[place], after[place], `${path}[${index}]`);
      });
    }
    if (isJsonObject(value) && isJsonObject(before) && isJsonObject(after)) {
      const memberPath = (name: string): string => (path === '' ? name : `${path}.${name}`);
      const members = Object.entries(value).map(([name, it]) => [
        name,
        keepAt(it, before[name], after[name], memberPath(name)),
      ]);
      return Object.fromEntries(members) as unknown;
    }
    return value;
  };
  return { definition: keepAt(saved, written, filled, ''), replaced };
}

function matchingIndex(entry: unknown, index: number, among: readonly unknown[]): number {
  const id = isJsonObject(entry) ? entry['id'] : undefined;
  return id === undefined ? index : among.findIndex((it) => isJsonObject(it) && it['id'] === id);
}
