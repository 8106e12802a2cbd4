import { briefText } from '#libs/protocol';
import type { NodeInstance, NodeStatus } from './node-run.js';
import { questionText } from './run-questions.js';

const OPEN: ReadonlySet<NodeStatus> = new Set(['pending', 'running', 'input-required']);
/** Maximum number of questions in one text, and of characters in each. */
const MOST_QUESTIONS = 10;
const LONGEST_QUESTION = 500;

/**
 * Returns the entries of a list that wait for an answer, if no other entry of the list is open.
 * Empty for a node without a list, and while any entry works or waits for a timer.
 */
export function askingEntries({ each, status }: NodeInstance): readonly NodeInstance[] {
  if (each === undefined || status !== 'running') return [];
  const open = each.runs.filter((entry) => OPEN.has(entry.status));
  return open.every((entry) => entry.status === 'input-required') ? open : [];
}

/** Formats the questions of at most ten entries, a line each. A line begins with the instance that an answer names. */
export function questionsText(entries: readonly NodeInstance[]): string {
  const lines = entries
    .slice(0, MOST_QUESTIONS)
    .map((entry) => `${entry.instance}: ${briefText(questionText(entry), LONGEST_QUESTION)}`);
  const more = entries.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
