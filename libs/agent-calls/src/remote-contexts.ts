import { createHash } from 'node:crypto';

/** Names the two sides of a talk with an agent elsewhere, and its place. */
export interface RemoteTalk {
  tenant: string;
  owner: string;
  /** The context of the Task that calls; more than that where the talk is of a part of it alone. */
  contextId: string;
  workflow: string;
  node: string;
  agentUrl: string;
}

/** Keeps the contexts that agents elsewhere gave, so that their next Messages come in the same ones (section 3.4.3). */
export abstract class RemoteContexts {
  /** Returns the agent's `contextId` of earlier turns, if there were any. */
  abstract of(talk: RemoteTalk): Promise<string | undefined>;

  /**
   * Resolves when it is durable; the newest counts.
   * @param taskId the Task that called: what is kept is deleted with the last one that keeps it
   */
  abstract keep(talk: RemoteTalk, contextId: string, taskId: string): Promise<void>;
}

/** Returns a name of a talk that is as long for all: 64 hexadecimal digits. */
export function talkKey({ tenant, owner, contextId, workflow, node, agentUrl }: RemoteTalk): string {
  const members = JSON.stringify([tenant, owner, contextId, workflow, node, agentUrl]);
  return createHash('sha256').update(members).digest('hex');
}
