import type { StreamResponse } from '#libs/protocol';

interface ScriptedChunk {
  artifactId: string;
  text: string;
  append: boolean;
  lastChunk: boolean;
}

/** Event of a mortal agent (see MortalAgent): the Task itself, a status with a Message, or a chunk of an Artifact. */
export type ScriptedEvent = { task: true } | { state: string; text: string } | ScriptedChunk;

const chunk = (artifactId: string, text: string, append = false, lastChunk = false): ScriptedEvent => ({
  ...{ artifactId, text, append, lastChunk },
});
const status = (state: string, text: string): ScriptedEvent => ({ state: `TASK_STATE_${state}`, text });

/** Answer of a MortalAgent in two turns; the second turn begins with the caller's reply. */
export const SCRIPT: readonly ScriptedEvent[] = [
  { task: true },
  status('WORKING', 'on it'),
  status('WORKING', 'still on it'),
  chunk('a', 'a1 '),
  chunk('b', 'b1 '),
  chunk('a', 'a2', true, true),
  chunk('b', 'b2', true, true),
  status('INPUT_REQUIRED', 'which?'),
  status('WORKING', 'so be it'),
  // Follow-ups are posted: what the agent says before the subscription is read from a snapshot, without `lastChunk`.
  chunk('c', 'c'),
  status('COMPLETED', 'done'),
];

/** Number of events of the first turn. */
export const FIRST_TURN = 8;

/**
 * Returns the content of an event as texts, for comparisons of whole logs.
 * @param isMerged true if chunks may have been read from a snapshot, so that only their text is compared
 */
export function outlineOfScripted(event: ScriptedEvent, isMerged = false): string[] {
  if ('task' in event) return [];
  if ('state' in event) return [`${event.state}: ${event.text}`];
  return [isMerged ? `${event.artifactId}: ${event.text}` : outlineOfChunk(event)];
}

function outlineOfChunk({ artifactId, append, lastChunk, text }: ScriptedChunk): string {
  return `${artifactId}${append ? ' +' : ''}${lastChunk ? ' !' : ''}: ${text}`;
}

/**
 * Returns the content of an event in a caller's stream that came from the agent; an empty list for events of Parley
 * itself: the Task, a WORKING without a Message, and the end of a turn under a policy.
 */
export function outlineOfHeard(event: StreamResponse, isMerged = false): string[] {
  if ('statusUpdate' in event) {
    const { state, message } = event.statusUpdate.status;
    const text = message?.parts[0]?.text;
    return text === undefined || text.startsWith('The agent no longer knows') ? [] : [`${state}: ${text}`];
  }
  if (!('artifactUpdate' in event)) return [];
  const { artifact, append = false, lastChunk = false } = event.artifactUpdate;
  const { artifactId, parts } = artifact;
  const texts = parts.map((part) => part.text ?? '');
  if (isMerged) return texts.map((text) => `${artifactId}: ${text}`);
  return [outlineOfChunk({ artifactId, append, lastChunk, text: texts.join('|') })];
}

/**
 * Returns the statuses of a log, and the chunks of each Artifact, each in order: a snapshot changes neither.
 * @param isRepeated true if the agent sent everything again: an Artifact that is equal in a snapshot is not repeated
 */
export function groupOutlines(outlines: readonly string[], isRepeated = false): string {
  const counted = outlines.filter(
    (it, index) => !isRepeated || it.startsWith('TASK_STATE') || outlines.indexOf(it) === index,
  );
  const groups = Object.groupBy(counted, (it) => (it.startsWith('TASK_STATE') ? 'status' : it.split(':', 1)[0]!));
  return JSON.stringify(Object.entries(groups).sort(([one], [other]) => one.localeCompare(other)));
}
