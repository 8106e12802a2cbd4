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

/** Milliseconds for which updates of an agent are held, so that a run reports them together. */
const HELD_MS = 250;
/** Maximum characters of Artifacts that a run's log has of one call before its end. The Task has the rest. */
const MOST_CONTENT = 64 * 1024;

/** Pieces of one Artifact that arrived within the hold time. */
interface Pieces {
  taskId: string;
  artifact: Artifact;
  append: boolean;
}

/**
 * Reports what an agent says and produces while it works, for viewers of a run. A call that ends soon reports nothing.
 */
export class NodeProgress implements Disposable {
  private text: string | undefined;
  private readonly pieces = new Map<string, Pieces>();
  private content = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param report called at most once per Artifact, and once for the status text, every quarter of a second */
  constructor(private readonly report: (step: RunEventNote) => void) {}

  takeResponse(response: StreamResponse): void {
    if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else if ('statusUpdate' in response) this.takeStatus(response.statusUpdate.status);
    // Some agents report all progress with the whole Task each time.
    else if ('task' in response) this.takeStatus(response.task.status);
  }

  /** Drops held updates: the agent is done. */
  [Symbol.dispose](): void {
    clearTimeout(this.timer);
  }

  private takeStatus({ state, message }: TaskStatus): void {
    const said = firstText(message?.parts ?? []);
    if (state !== 'TASK_STATE_WORKING' || said === undefined || said === '') return;
    this.text = briefText(said);
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
    this.timer ??= setTimeout(() => this.reportHeld(), HELD_MS).unref();
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

  /** Returns the Parts without half a surrogate pair at their end, which stays held until its other half arrives. */
  private wholeParts(taskId: string, { parts, ...artifact }: Artifact): Part[] {
    const last = parts.at(-1);
    const whole = last?.text === undefined ? undefined : withoutHalf(last.text);
    if (last?.text === undefined || whole === undefined || whole === last.text) return parts;
    const half = { ...last, text: last.text.slice(whole.length) };
    this.pieces.set(artifact.artifactId, { taskId, artifact: { ...artifact, parts: [half] }, append: true });
    return [...parts.slice(0, -1), ...(whole === '' ? [] : [{ ...last, text: whole }])];
  }
}

function progressNote(payload: JsonObject): RunEventNote {
  return { type: 'node.progress', payload };
}

/** Joins Parts. Adjacent texts of the same media type become one. */
function joinParts(before: readonly Part[], after: readonly Part[]): Part[] {
  const [first, ...others] = after;
  const last = before.at(-1);
  const isText = first?.text !== undefined && last?.text !== undefined && first.mediaType === last.mediaType;
  if (!isText) return [...before, ...after];
  return [...before.slice(0, -1), { ...last, text: `${last.text}${first.text}` }, ...others];
}
