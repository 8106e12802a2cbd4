import { type Artifact, contentLength, type StreamResponse, type Task } from '#libs/protocol';
import type { ContentLimits, AnswerPlace } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';

/** Characters counted for an Artifact beside its id, as much as its memory: a million empty Artifacts are too many. */
const NAME_LENGTH = 256;

/**
 * Total size of a remote agent's answer in one call. Each event is limited by itself; an endless series would still be
 * too large.
 */
export class AnswerSize {
  private readonly artifacts = new Map<string, number>();
  private total = 0;
  /** Size of the ids of Artifacts, which count apart from their content. */
  private names = 0;
  private exceeded = false;

  /** @param place account for the bytes of the answer */
  constructor(
    private readonly limits: Pick<ContentLimits, 'artifact' | 'task'>,
    private readonly place?: AnswerPlace,
  ) {}

  /** True if an event exceeded the limits. */
  get isExceeded(): boolean {
    return this.exceeded;
  }

  /** Counts the size that an event adds. @throws AgentCallError `invalid-response` beyond the limits */
  countResponse(response: StreamResponse): void {
    if ('artifactUpdate' in response)
      this.countArtifact(response.artifactUpdate.artifact, response.artifactUpdate.append);
    else if ('task' in response) this.recountTask(response.task);
    this.place?.setKept(this.total + this.names);
  }

  private recountTask({ artifacts = [] }: Task): void {
    this.artifacts.clear();
    this.total = 0;
    this.names = 0;
    for (const artifact of artifacts) this.countArtifact(artifact, false);
  }

  private countArtifact({ artifactId, parts }: Artifact, append: boolean | undefined): void {
    const before = this.artifacts.get(artifactId) ?? 0;
    const after = contentLength(parts) + (append ? before : 0);
    if (!this.artifacts.has(artifactId)) this.names += artifactId.length + NAME_LENGTH;
    this.artifacts.set(artifactId, after);
    this.total += after - before;
    this.exceeded = after > this.limits.artifact || this.total > this.limits.task;
    if (after > this.limits.artifact)
      throw tooLarge('an artifact of the agent', this.limits.artifact, 'ARTIFACT_LIMIT');
    if (Math.max(this.total, this.names) > this.limits.task)
      throw tooLarge("the agent's answer", this.limits.task, 'TASK_LIMIT');
  }
}

function tooLarge(what: string, limit: number, variable: string): AgentCallError {
  return new AgentCallError('invalid-response', `${what} has more than ${limit} characters (${variable})`);
}
