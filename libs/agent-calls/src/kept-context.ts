import { AgentCallError } from '#libs/a2a-client';
import { A2A_ERRORS, type SendMessageRequest, type StreamResponse } from '#libs/protocol';

/** Stores the context of a call at an agent elsewhere, and finds the context of earlier calls. */
export interface KeptContext {
  /** Returns the agent's `contextId` of earlier calls, if any; rejects only if the call has ended. */
  findContextId(): Promise<string | undefined>;
  /** Stores a context. Never rejects. */
  keepContextId(contextId: string): Promise<void>;
}

/** Maximum characters of a stored context; agents choose their contexts. */
const LONGEST_CONTEXT = 1_024;

/** The agent's context in one call. */
export class AgentContext {
  private isRefused = false;
  private found: Promise<string | undefined> | undefined;
  private keeping: Promise<void> | undefined;

  constructor(private readonly kept: KeptContext | undefined) {}

  /** Returns the request in the context of earlier calls, unless it names one or the agent has refused it. */
  async withKeptContext(request: SendMessageRequest): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.kept || this.isRefused || message.taskId !== undefined || message.contextId !== undefined) return request;
    const contextId = await (this.found ??= this.kept.findContextId());
    return contextId === undefined ? request : { ...request, message: { ...message, contextId } };
  }

  /**
   * Records the error of a request. Returns true if the request should be sent again without the context: the agent has
   * forgotten the context, and has done nothing.
   */
  noteRefusal(request: SendMessageRequest, error: unknown): boolean {
    const { contextId, taskId } = request.message;
    if (this.found === undefined || contextId === undefined || taskId !== undefined || this.isRefused) return false;
    this.isRefused = isRefusal(error);
    return this.isRefused;
  }

  /** Starts to store the first context that an answer names, unless it is very long. */
  keepFrom(response: StreamResponse): void {
    const contextId = contextOf(response);
    if (!contextId || contextId.length > LONGEST_CONTEXT) return;
    if (this.kept) this.keeping ??= this.kept.keepContextId(contextId);
  }

  /** Resolves when the context is stored, or storing it has failed. */
  async waitUntilKept(): Promise<void> {
    await this.keeping;
  }
}

/** True for TaskNotFound and InvalidParams, which have no code of A2A over REST. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof AgentCallError)) return false;
  const { kind, code } = error;
  return kind === 'not-found' || code === A2A_ERRORS.INVALID_PARAMS.code || code === 400 || code === 404;
}

function contextOf(response: StreamResponse): string | undefined {
  if ('task' in response) return response.task.contextId;
  if ('message' in response) return response.message.contextId;
  return 'statusUpdate' in response ? response.statusUpdate.contextId : response.artifactUpdate.contextId;
}
