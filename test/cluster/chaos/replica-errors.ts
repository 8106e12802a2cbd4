import type { Parley } from '../../support/parley.js';

const LONGEST = 2_000;

interface LoggedError {
  msg?: string;
  err?: { type?: string; message?: string; code?: string; stack?: string };
}

/**
 * Errors in the logs of a trial's replicas, grouped by their text. Outages are not logged as errors, so every entry
 * deserves a look.
 */
export class ReplicaErrors {
  private readonly replicas: Pick<Parley, 'logs'>[] = [];

  begun(replica: Pick<Parley, 'logs'>): void {
    this.replicas.push(replica);
  }

  /** Returns one text for each kind of error: the number, and the first entry in full. */
  kinds(): string[] {
    const kinds = new Map<string, { count: number; first: string }>();
    for (const line of this.replicas.flatMap(({ logs }) => logs().split('\n'))) {
      const kind = kindOf(line);
      if (kind === undefined) continue;
      const known = kinds.get(kind) ?? { count: 0, first: line.slice(0, LONGEST) };
      kinds.set(kind, { ...known, count: known.count + 1 });
    }
    return [...kinds].map(([kind, { count, first }]) => `${count} × ${kind}\n    ${first}`);
  }
}

function kindOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { msg, err } = JSON.parse(line) as LoggedError;
    return [msg, err?.type, err?.code, err?.message].filter((part) => part !== undefined).join(': ');
  } catch {
    return undefined;
  }
}
