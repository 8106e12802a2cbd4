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

/** Minimum milliseconds between two events that report what a remote agent says while it works. */
const PROGRESS_MS = 250;
/** Maximum number of events in one turn that report what a remote agent says while it works. */
const MOST_PROGRESS = 1_000;

/**
 * Chooses which texts of a remote agent at work are reported. Of several within PROGRESS_MS only the first is reported,
 * and a text that equals the last reported one is not. At most MOST_PROGRESS are reported.
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

/** Returns the Parts of the Message that an agent at work sends with its status; `undefined` without any. */
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

/** Returns metadata and extensions that an agent wrote, without metadata that only this service writes. */
function agentsMembers({ metadata, extensions }: Pick<Artifact, 'metadata' | 'extensions'>): Omit<NodeOutput, 'parts'> {
  const own = Object.entries(metadata ?? {}).filter(([name]) => !name.startsWith('parley/'));
  return {
    ...(own.length > 0 && { metadata: Object.fromEntries(own) }),
    ...(extensions && extensions.length > 0 && { extensions }),
  };
}

/**
 * Returns the output for the answer of an agent. The first Part is the first text of the first Artifact, else its first
 * data as JSON, else `no output`. All Parts follow that are not in that text. For a reply without a Task, and for a Task
 * without Artifacts, the agent's last Message takes the place of the Artifact. The description, metadata and extensions
 * are those of the first Artifact or the Message.
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

/** Marks a text Part with its Artifact, so that it is not merged with texts of the first Artifact. */
function assignToArtifact(part: Part, artifactId: string): Part {
  return part.text === undefined ? part : { ...part, metadata: { ...part.metadata, [PART_OF]: artifactId } };
}
