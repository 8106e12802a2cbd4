import type { ValidationError } from 'class-validator';
import type { EachContext } from '../requests/each-rule.js';
import type { ProblemEntry } from './problem.js';

/** What class-validator found, as the entries of a problem: one for each thing that is said of a member. */
export function entriesOf(errors: readonly ValidationError[], parent = ''): ProblemEntry[] {
  return errors.flatMap((error) => {
    const path = pathOf(parent, error.property);
    const own = Object.entries(broken(error)).flatMap(([rule, detail]) =>
      pathsOf(error, rule, path).map((it) => ({ path: it, detail })),
    );
    return [...distinct(own), ...entriesOf(error.children ?? [], path)];
  });
}

/** The rules that a member breaks. What is no list breaks whatever is asked of lists: it is enough to say that. */
function broken({ constraints = {} }: ValidationError): Readonly<Record<string, string>> {
  const { isArray } = constraints;
  return isArray === undefined ? constraints : { isArray };
}

/** The member itself, or of a list the entries at fault. */
function pathsOf({ value, contexts }: ValidationError, rule: string, path: string): string[] {
  const { test } = (contexts?.[rule] ?? {}) as Partial<EachContext>;
  if (!test || !Array.isArray(value)) return [path];
  return value.flatMap((entry, index) => (test(entry) ? [] : [`${path}[${index}]`]));
}

/** Several rules may say the same. */
function distinct(entries: ProblemEntry[]): ProblemEntry[] {
  return [...new Map(entries.map((entry) => [`${entry.path} ${entry.detail}`, entry])).values()];
}

function pathOf(parent: string, property: string): string {
  if (parent === '') return property;
  return /^\d+$/.test(property) ? `${parent}[${property}]` : `${parent}.${property}`;
}
