import { briefText } from '#libs/protocol';
import type { NodeRun, NodeStatus } from './node-run.js';
import { questionText } from './run-questions.js';

const OPEN: ReadonlySet<NodeStatus> = new Set(['pending', 'running', 'input-required']);
/** Questions in one text, and characters of each. */
const MOST_QUESTIONS = 10;
const LONGEST_QUESTION = 500;

/**
 * Returns the entries of a list that wait for an answer, if no other entry of it is open.
 * Empty for a node without a list, and while any entry works or waits for a time.
 */
export function askingEntries({ each, status }: NodeRun): readonly NodeRun[] {
  if (each === undefined || status !== 'running') return [];
  const open = each.runs.filter((entry) => OPEN.has(entry.status));
  return open.every((entry) => entry.status === 'input-required') ? open : [];
}

/** Returns the questions of entries as one text, a line each, named by the instance that an answer names. At most ten. */
export function questionsText(entries: readonly NodeRun[]): string {
  const lines = entries
    .slice(0, MOST_QUESTIONS)
    .map((entry) => `${entry.instance}: ${briefText(questionText(entry), LONGEST_QUESTION)}`);
  const more = entries.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
