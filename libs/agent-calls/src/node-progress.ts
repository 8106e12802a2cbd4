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

/** How long what an agent says is held, so that a run tells of it once: in milliseconds. */
const HELD_MS = 250;
/** Characters of Artifacts that the log of a run has of one call before its end; whoever wants more asks its Task. */
const MOST_CONTENT = 64 * 1024;

/** Pieces of one Artifact that came together. */
interface Pieces {
  taskId: string;
  artifact: Artifact;
  append: boolean;
}

/** What an agent says and makes while it works, for who watches the run. Of one that is done soon nothing is reported. */
export class NodeProgress implements Disposable {
  private text: string | undefined;
  private readonly pieces = new Map<string, Pieces>();
  private content = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param report is given at most one step for each Artifact, and one for what is said, in a quarter of a second */
  constructor(private readonly report: (step: RunEventNote) => void) {}

  take(response: StreamResponse): void {
    if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else if ('statusUpdate' in response) this.takeStatus(response.statusUpdate.status);
    // Some agents tell of all they do by the whole Task, anew each time.
    else if ('task' in response) this.takeStatus(response.task.status);
  }

  /** What is held then is not reported: the agent is done. */
  [Symbol.dispose](): void {
    clearTimeout(this.timer);
  }

  private takeStatus({ state, message }: TaskStatus): void {
    const said = firstText(message?.parts ?? []);
    if (state !== 'TASK_STATE_WORKING' || said === undefined || said === '') return;
    this.text = briefText(said);
    this.hold();
  }

  private takeArtifact({ taskId, artifact, append = false }: TaskArtifactUpdateEvent): void {
    const { artifactId, parts } = artifact;
    if (this.content > MOST_CONTENT) return;
    this.content += contentLength(parts);
    const held = this.pieces.get(artifactId);
    if (held && append) held.artifact.parts = joined(held.artifact.parts, parts);
    else this.pieces.set(artifactId, { taskId, artifact: { ...artifact, parts: [...parts] }, append });
    this.hold();
  }

  private hold(): void {
    this.timer ??= setTimeout(() => this.release(), HELD_MS).unref();
  }

  private release(): void {
    this.timer = undefined;
    if (this.text !== undefined) this.report(step({ text: this.text }));
    this.text = undefined;
    const held = [...this.pieces.values()];
    this.pieces.clear();
    for (const { taskId, artifact, append } of held) {
      const { artifactId, name } = artifact;
      const parts = this.wholeParts(taskId, artifact);
      const content: JsonObject = this.content > MOST_CONTENT ? { taskId } : { parts: parts as unknown as JsonValue };
      const shown = { artifactId, ...(name !== undefined && { name }), ...content, ...(append && { append }) };
      if (parts.length > 0 || artifact.parts.length === 0) this.report(step({ artifact: shown }));
    }
  }

  /** The parts without half a character at their end, which waits for the piece that has its other half. */
  private wholeParts(taskId: string, { parts, ...artifact }: Artifact): Part[] {
    const last = parts.at(-1);
    const whole = last?.text === undefined ? undefined : withoutHalf(last.text);
    if (last?.text === undefined || whole === undefined || whole === last.text) return parts;
    const half = { ...last, text: last.text.slice(whole.length) };
    this.pieces.set(artifact.artifactId, { taskId, artifact: { ...artifact, parts: [half] }, append: true });
    return [...parts.slice(0, -1), ...(whole === '' ? [] : [{ ...last, text: whole }])];
  }
}

function step(payload: JsonObject): RunEventNote {
  return { type: 'node.progress', payload };
}

/** Texts that follow each other are one. */
function joined(before: readonly Part[], after: readonly Part[]): Part[] {
  const [first, ...others] = after;
  const last = before.at(-1);
  const isText = first?.text !== undefined && last?.text !== undefined && first.mediaType === last.mediaType;
  if (!isText) return [...before, ...after];
  return [...before.slice(0, -1), { ...last, text: `${last.text}${first.text}` }, ...others];
}
