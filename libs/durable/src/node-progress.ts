import {
  type Artifact,
  briefText,
  contentLength,
  firstText,
  type JsonObject,
  type JsonValue,
  type Part,
  type RunEventNote,
  type StreamResponse,
  type TaskArtifactUpdateEvent,
  type TaskStatus,
  withoutHalf,
} from '#libs/protocol';
import type { AgentCall, CallProgress } from './agent-call.js';

/** Milliseconds between two reports to a run; updates of an agent that arrive meanwhile are reported together. */
const HELD_MS = 250;
/**
 * Maximum characters of one call's Artifacts that a run's log stores while the call is running. The agent's Task has
 * the complete Artifacts.
 */
const MOST_CONTENT = 64 * 1024;

/** Pieces of one Artifact that are collected for the next report. */
interface Pieces {
  taskId: string;
  artifact: Artifact;
  append: boolean;
}

/**
 * Reports an agent's status texts and Artifacts to viewers of a run while the agent works. A call that ends before
 * the first report is due reports nothing.
 */
export class NodeProgress implements Disposable {
  private text: string | undefined;
  private readonly pieces = new Map<string, Pieces>();
  private content = 0;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  /**
   * @param report gets the updates that were collected during a quarter of a second: one call for the newest status
   * text, if there is one, and one call for each Artifact with new content
   */
  constructor(private readonly report: (step: RunEventNote) => void) {}

  takeResponse(response: StreamResponse): void {
    if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else if ('statusUpdate' in response) this.takeStatus(response.statusUpdate.status);
    // Some agents report all progress with the whole Task each time.
    else if ('task' in response) this.takeStatus(response.task.status);
  }

  /** Reports the reason why a call is delayed, as soon as it is known. */
  followDelay(call: Pick<AgentCall, 'delay'>): void {
    void call.delay.then((reason) => this.takeText(reason));
  }

  /** Drops the collected updates, because the call has ended. */
  [Symbol.dispose](): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private takeStatus({ state, message }: TaskStatus): void {
    const said = firstText(message?.parts ?? []);
    if (state === 'TASK_STATE_WORKING' && said) this.takeText(said);
  }

  private takeText(text: string): void {
    this.text = briefText(text);
    this.scheduleReport();
  }

  private takeArtifact({ taskId, artifact, append = false }: TaskArtifactUpdateEvent): void {
    const { artifactId, parts } = artifact;
    if (this.content > MOST_CONTENT) return;
    this.content += contentLength(parts);
    const held = this.pieces.get(artifactId);
    if (held && append) held.artifact.parts = joinParts(held.artifact.parts, parts);
    else this.pieces.set(artifactId, { taskId, artifact: { ...artifact, parts: [...parts] }, append });
    this.scheduleReport();
  }

  private scheduleReport(): void {
    if (!this.isOver) this.timer ??= setTimeout(() => this.reportHeld(), HELD_MS).unref();
  }

  private reportHeld(): void {
    this.timer = undefined;
    if (this.text !== undefined) this.report(progressNote({ text: this.text }));
    this.text = undefined;
    const held = [...this.pieces.values()];
    this.pieces.clear();
    for (const { taskId, artifact, append } of held) {
      const { artifactId, name } = artifact;
      const parts = this.wholeParts(taskId, artifact);
      const content: JsonObject = this.content > MOST_CONTENT ? { taskId } : { parts: parts as unknown as JsonValue };
      const shown = { artifactId, ...(name !== undefined && { name }), ...content, ...(append && { append }) };
      if (parts.length > 0 || artifact.parts.length === 0) this.report(progressNote({ artifact: shown }));
    }
  }

  /**
   * Returns the Parts without a half surrogate pair at the end of the last text. That half is kept back until the
   * other half arrives.
   */
  private wholeParts(taskId: string, { parts, ...artifact }: Artifact): Part[] {
    const last = parts.at(-1);
    const whole = last?.text === undefined ? undefined : withoutHalf(last.text);
    if (last?.text === undefined || whole === undefined || whole === last.text) return parts;
    const half = { ...last, text: last.text.slice(whole.length) };
    this.pieces.set(artifact.artifactId, { taskId, artifact: { ...artifact, parts: [half] }, append: true });
    return [...parts.slice(0, -1), ...(whole === '' ? [] : [{ ...last, text: whole }])];
  }
}

/**
 * Runs a call and yields its updates. If the call is delayed, the reason comes first. Unlike NodeProgress, it does not
 * collect updates.
 */
export async function* withDelay(call: AgentCall): AsyncGenerator<CallProgress | { delay: string }, void, undefined> {
  const updates = call.runCall();
  let first: IteratorResult<CallProgress, void> | undefined;
  try {
    const reading = updates.next().then((it) => (first = it));
    // Avoids an unhandled rejection if the reader leaves.
    reading.catch(() => undefined);
    const delay = await Promise.race([reading.then(() => undefined), call.delay]);
    if (delay !== undefined) yield { delay };
    const { done, value } = await reading;
    if (done) return;
    yield value;
    yield* updates;
  } finally {
    if (first === undefined) call.abort();
    await updates.return();
  }
}

function progressNote(payload: JsonObject): RunEventNote {
  return { type: 'node.progress', payload };
}

/** Joins two lists of Parts. Adjacent texts with the same media type become one. */
function joinParts(before: readonly Part[], after: readonly Part[]): Part[] {
  const [first, ...others] = after;
  const last = before.at(-1);
  const isText = first?.text !== undefined && last?.text !== undefined && first.mediaType === last.mediaType;
  if (!isText) return [...before, ...after];
  return [...before.slice(0, -1), { ...last, text: `${last.text}${first.text}` }, ...others];
}
