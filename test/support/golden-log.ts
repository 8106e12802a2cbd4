import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Log of a Task, each event with the changes that it makes in the folded state. */
export type GoldenLog = GoldenStep[];

interface GoldenStep {
  event: TaskEvent;
  /** Changed values by path: the new value, or `null` for a removed one. */
  changes: JsonObject;
}

/** Function that folds the beginning of a log to a JSON value. */
export type Fold = (log: readonly TaskEvent[]) => unknown;

/** True to record the logs instead of comparing them, after an intended change of what is logged. */
const RECORDS = process.env['RECORD_GOLDEN_LOGS'] !== undefined;

/** Returns the log with all values replaced that depend on the time or on chance. */
export function timeless(log: readonly TaskEvent[]): TaskEvent[] {
  return log.map((event, index) => {
    const {
      jobs: _jobs,
      parks: _parks,
      questions: _questions,
      facts: _facts,
      ...told
    } = event as Record<string, unknown>;
    const at = Date.UTC(2026, 0, 1) + index * 1000;
    const text = JSON.stringify(told, (key, value: JsonValue) => {
      if (key === 'timestamp') return new Date(at).toISOString();
      return key === 'ts' ? at : value;
    });
    const copy = JSON.parse(text) as TaskEvent;
    const said = 'statusUpdate' in copy ? copy.statusUpdate.status.message : undefined;
    if (said) said.messageId = `said-${index}`;
    return copy;
  });
}

/** Folds every beginning of a log. */
export function goldenLog(log: readonly TaskEvent[], fold: Fold): GoldenLog {
  let before: JsonValue = {};
  return log.map((event, index) => {
    const after = plain(fold(log.slice(0, index + 1)));
    const step = { event, changes: Object.fromEntries(changes(before, after)) };
    before = after;
    return step;
  });
}

export const eventsOf = (log: GoldenLog): TaskEvent[] => log.map(({ event }) => event);

export function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** Recorded logs of one directory, one JSON object a line; `head` is stored before the log. */
export class GoldenLogs {
  constructor(private readonly directory: string) {}

  read(name: string): { log: GoldenLog; head?: JsonObject } {
    const lines = readFileSync(this.fileOf(name), 'utf8').trimEnd().split('\n');
    const [first, ...rest] = lines.map((line) => JSON.parse(line) as JsonObject);
    if (first === undefined || 'event' in first) return { log: [first, ...rest] as unknown as GoldenLog };
    return { log: rest as unknown as GoldenLog, head: first };
  }

  /** Records a log if logs are to be recorded; otherwise does nothing. */
  record(name: string, log: () => GoldenLog, head?: object): void {
    if (!RECORDS) return;
    mkdirSync(this.directory, { recursive: true });
    const lines = [...(head ? [head] : []), ...log()].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(this.fileOf(name), lines.join(''));
  }

  private fileOf(name: string): string {
    return join(this.directory, `${name}.jsonl`);
  }
}

function changes(before: JsonValue | undefined, after: JsonValue | undefined, path = ''): [string, JsonValue][] {
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changes(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[path, after ?? null]];
}
