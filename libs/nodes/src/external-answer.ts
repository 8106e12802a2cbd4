import type { CalledTask } from '#libs/a2a-client';
import type { RequestContext } from '#libs/agents';
import {
  type Artifact,
  firstData,
  firstTextRow,
  joinedText,
  mergedTexts,
  type Part,
  PART_OF,
  spokenParts,
  statusUpdate,
  type StreamResponse,
  textPart,
} from '#libs/protocol';
import type { NodeEvent, NodeOutput } from './node-executor.js';

/** Minimum time in milliseconds between two events with texts that a remote agent sends while it works. */
const PROGRESS_MS = 250;
/** Maximum number of events in one turn that report what a remote agent says while it works. */
const MOST_PROGRESS = 1_000;

/**
 * Selects the texts of a working remote agent that are reported as events. Texts that arrive less than PROGRESS_MS
 * after the last reported one, or are equal to it, are dropped. At most MOST_PROGRESS texts are reported.
 */
export class WorkingTexts {
  private said = '';
  private reports = 0;
  private reportedAt = -Infinity;

  /** Returns the Parts to report after a response; `undefined` if there is nothing to report now. */
  takeResponse(response: StreamResponse): Part[] | undefined {
    const parts = partsWhileWorking(response);
    if (parts === undefined || this.reports === MOST_PROGRESS) return undefined;
    if (performance.now() - this.reportedAt < PROGRESS_MS) return undefined;
    const said = JSON.stringify(parts);
    if (said === this.said) return undefined;
    this.said = said;
    this.reports += 1;
    this.reportedAt = performance.now();
    return [...parts];
  }
}

/** Returns the Parts of the status Message that a working agent sends; `undefined` if the response has none. */
function partsWhileWorking(response: StreamResponse): readonly Part[] | undefined {
  const status =
    'task' in response ? response.task.status : 'statusUpdate' in response ? response.statusUpdate.status : undefined;
  const parts = status?.state === 'TASK_STATE_WORKING' ? status.message?.parts : undefined;
  return parts && parts.length > 0 ? parts : undefined;
}

/** Returns the event that passes on the question of an agent: its Parts, metadata and extensions. */
export function askedQuestion(
  context: RequestContext,
  { state = 'TASK_STATE_INPUT_REQUIRED', status }: CalledTask,
): NodeEvent {
  const event = statusUpdate(context, state, status?.message?.parts);
  const { message } = event.statusUpdate.status;
  if (message) Object.assign(message, agentsMembers(status?.message ?? {}));
  return event;
}

/**
 * Returns the metadata and extensions of an agent's Message or Artifact. Metadata keys that only this service may write
 * are omitted.
 */
function agentsMembers({ metadata, extensions }: Pick<Artifact, 'metadata' | 'extensions'>): Omit<NodeOutput, 'parts'> {
  const own = Object.entries(metadata ?? {}).filter(([name]) => !name.startsWith('parley/'));
  return {
    ...(own.length > 0 && { metadata: Object.fromEntries(own) }),
    ...(extensions && extensions.length > 0 && { extensions }),
  };
}

/**
 * Converts the answer of an agent to the output of the node.
 * - The first Part is the first text of the first Artifact, or else the first data of that Artifact as JSON, or else
 *   the text `no output`.
 * - All Parts of all Artifacts follow, except the text that the first Part has, empty texts, and thoughts of a model.
 * - If the agent replied without a Task, or its Task has no Artifacts, the last Message of the agent takes the place of
 *   the Artifact.
 * - The description, metadata and extensions are those of the first Artifact or of that Message.
 */
export function outputOf({ reply, artifacts, lastMessage: said }: CalledTask): NodeOutput {
  const made =
    reply || artifacts.length === 0
      ? said && [{ ...said, artifactId: said.messageId, description: undefined }]
      : artifacts;
  const [first, ...further] = (made ?? []).map((it) => ({ ...it, parts: mergedTexts(it.parts) }));
  const text = joinedText(first?.parts ?? []);
  const data = firstData(first?.parts ?? []);
  const { start, end } = firstTextRow(first?.parts ?? []);
  const others = [
    ...spokenParts((first?.parts ?? []).filter((_, index) => index < start || index >= end)),
    ...further.flatMap(({ artifactId, parts }) => spokenParts(parts).map((part) => assignToArtifact(part, artifactId))),
  ];
  const parts = [textPart(text ?? (data === undefined ? 'no output' : JSON.stringify(data))), ...others];
  const { description } = first ?? {};
  return { parts, ...(description && { description }), ...agentsMembers(first ?? {}) };
}

/**
 * Adds the id of an Artifact to the metadata of its text Part. Readers then do not merge this text with the texts of
 * the first Artifact.
 */
function assignToArtifact(part: Part, artifactId: string): Part {
  return part.text === undefined ? part : { ...part, metadata: { ...part.metadata, [PART_OF]: artifactId } };
}
