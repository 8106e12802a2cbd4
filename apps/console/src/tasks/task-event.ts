import { briefText } from '../components/text-start.js';
import type { A2aMessage, A2aPart, TaskLogEvent } from '../api/task.js';

export interface EventLine {
  kind: 'task' | 'status' | 'artifact' | 'message';
  /** Description of the event in a few words; for a status update, the state. */
  title: string;
  /** Content of the event, truncated. */
  text: string;
  /** Time of the event in ISO 8601, if known. */
  at?: string;
}

const LONGEST = 160;

/** Returns an event of a Task's log as a line. */
export function eventLine({ item: { task, statusUpdate, artifactUpdate, message } }: TaskLogEvent): EventLine {
  if (artifactUpdate) {
    const { artifact, append, lastChunk } = artifactUpdate;
    const name = artifact.name ?? artifact.artifactId;
    const title = `${append ? 'Adds to' : 'Artifact'} ${name}${lastChunk ? ', complete' : ''}`;
    return { kind: 'artifact', title, text: summarizeParts(artifact.parts) };
  }
  const status = statusUpdate?.status ?? task?.status;
  if (status) {
    const said = task?.history?.at(-1) ?? status.message;
    const { timestamp } = status;
    const note = noteOf(statusUpdate?.metadata);
    return {
      kind: task ? 'task' : 'status',
      title: status.state,
      text: shortenText([note, said && summarizeParts(said.parts)].filter((it) => it).join(' · ')),
      ...(timestamp !== undefined && { at: timestamp }),
    };
  }
  return { kind: 'message', title: 'Message', text: message ? summarizeMessage(message) : '' };
}

/** Returns the content of Parts as a truncated line. */
export function summarizeParts(parts: readonly A2aPart[]): string {
  return shortenText(parts.map(partSummary).join(' '));
}

function partSummary({ text, data, url, filename, mediaType }: A2aPart): string {
  if (text !== undefined) return text;
  if (data !== undefined) return JSON.stringify(data);
  return url ?? filename ?? mediaType ?? 'a file';
}

function summarizeMessage({ parts }: A2aMessage): string {
  return summarizeParts(parts);
}

/** Returns the step that an event of Parley's own agents reports, such as `node.started` or `a2a turn 2`. */
function noteOf(metadata: Record<string, unknown> = {}): string | undefined {
  const { type } = objectIn(metadata['parley/event']);
  if (typeof type === 'string') return type;
  const { stream, data } = objectIn(metadata['parley/stream']);
  const { phase, turn } = objectIn(data);
  const words = [stream, phase, turn].filter((it) => typeof it === 'string' || typeof it === 'number');
  return words.length === 0 ? undefined : words.join(' ');
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function shortenText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? briefText(line, LONGEST - 1) : line;
}
