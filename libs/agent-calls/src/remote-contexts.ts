import { createHash } from 'node:crypto';

/** Key of a conversation between a Task and an agent elsewhere. */
export interface RemoteTalk {
  tenant: string;
  owner: string;
  /** Context of the calling Task, with a suffix if the conversation belongs to a part of that Task. */
  contextId: string;
  workflow: string;
  node: string;
  agentUrl: string;
}

/** Stores the contexts that agents elsewhere assign, so that later Messages use the same ones (section 3.4.3). */
export abstract class RemoteContexts {
  /** Returns the agent's `contextId` of earlier turns, if there were any. */
  abstract findContext(talk: RemoteTalk): Promise<string | undefined>;

  /**
   * Stores a context, replacing an earlier one. Resolves when it is durable.
   * @param taskId the calling Task; the context is deleted with the last Task that stored it
   */
  abstract keepContext(talk: RemoteTalk, contextId: string, taskId: string): Promise<void>;
}

/** Returns a fixed-length key of a conversation: 64 hexadecimal digits. */
export function talkKey({ tenant, owner, contextId, workflow, node, agentUrl }: RemoteTalk): string {
  const members = JSON.stringify([tenant, owner, contextId, workflow, node, agentUrl]);
  return createHash('sha256').update(members).digest('hex');
}
