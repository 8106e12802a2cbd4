import { hash } from 'node:crypto';
import { firstText, textStart } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowFailure } from '#libs/workflow-definition';
import { reportedError, shownFailure } from '#libs/workflow-engine';

/** Maximum number of workflows that a cause names. */
const MOST_WORKFLOWS = 10;
/** Maximum characters of a message that are compared, and that are shown. */
const COMPARED = 1_000;
const SHOWN = 240;

/** Failed run with its failure. */
export interface CausedFailure {
  runId: string;
  workflow: string;
  endedAt: Date;
  failure: WorkflowFailure;
}

/** Failures of runs that have the same cause: node, kind and message without its variable parts. */
export interface FailureCause {
  /** Id of the cause (`causeId`). */
  id: string;
  node?: string;
  kind: string;
  /** Message without numbers, ids and URLs. */
  message: string;
  runs: number;
  firstSeen: Date;
  lastSeen: Date;
  /** Newest run with this cause. */
  runId: string;
  workflows: string[];
}

/** Reads the failure of a failed run from the last two events of its log. */
export function readFailure(events: readonly TaskEvent[] = []): WorkflowFailure {
  const reported = events.map(reportedError).find((error) => error !== undefined);
  if (reported) return shownFailure(reported);
  const last = events.at(-1);
  const said = last && 'statusUpdate' in last ? firstText(last.statusUpdate.status.message?.parts ?? []) : undefined;
  return shownFailure({ message: said ?? 'The run failed' });
}

/**
 * Groups failures by cause: the most frequent cause first; among equally frequent ones, the newest first.
 * @param failures failures, the newest first
 */
export function groupFailures(failures: readonly CausedFailure[]): FailureCause[] {
  const causes = new Map<string, FailureCause>();
  for (const { runId, workflow, endedAt, failure } of failures) {
    const { node, kind } = failure;
    const id = causeId(failure);
    const cause = causes.get(id);
    if (!cause) {
      const seen = { firstSeen: endedAt, lastSeen: endedAt, runId, workflows: [workflow] };
      const message = normalizeMessage(failure.message);
      causes.set(id, { id, ...(node !== undefined && { node }), kind, message, runs: 1, ...seen });
      continue;
    }
    cause.runs += 1;
    cause.firstSeen = endedAt;
    if (!cause.workflows.includes(workflow) && cause.workflows.length < MOST_WORKFLOWS) cause.workflows.push(workflow);
  }
  return [...causes.values()].sort((a, b) => b.runs - a.runs || b.lastSeen.getTime() - a.lastSeen.getTime());
}

/** Returns the id of a failure's cause. It is the same for failures with the same node, kind and reduced message. */
export function causeId({ node, kind, message }: WorkflowFailure): string {
  return hash('sha256', JSON.stringify([node ?? null, kind, normalizeMessage(message)]), 'base64url').slice(0, 16);
}

const URLS = /\b[a-z][a-z0-9+.-]{1,10}:\/\/[^\s"'<>()]+/gi;
/**
 * Matches words of at least eight letters, digits, `_` and `-`. Such a word counts as an id if it has at least three
 * digits.
 */
const LONG_WORDS = /[\w-]{8,}/g;
const DIGITS = /\d/g;
const LEAST_DIGITS = 3;
const NUMBERS = /(\bHTTP )?\d+(?:[.,:]\d+)*/g;
const SPACES = /\s+/g;

/**
 * Replaces the variable parts of a message: URLs, ids and numbers, except HTTP status codes. Only the beginning of the
 * message is used. Takes linear time.
 */
export function normalizeMessage(message: string): string {
  const plain = textStart(message, COMPARED)
    .replace(URLS, '<url>')
    .replace(LONG_WORDS, (word) => ((word.match(DIGITS)?.length ?? 0) >= LEAST_DIGITS ? '<id>' : word))
    .replace(NUMBERS, (number, http?: string) => (http === undefined ? '<n>' : number))
    .replace(SPACES, ' ')
    .trim();
  return textStart(plain, SHOWN);
}
