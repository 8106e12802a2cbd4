import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { AgentCatalog, ExecutionRegistry, REVISION_KEY, type ServedAgent } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { Jobs } from '#libs/jobs';
import { A2AError, isWaitingState, userMessage } from '#libs/protocol';
import { type StoredTask, TaskStore } from '#libs/tasks';
import { ConversationCommands } from '../conversation-command.js';
import { WAKE_KEY } from '../conversation-state.js';
import { readWakePayload, WAKE, type WakePayload } from '../wake-job.js';

/**
 * Goes on with conversations that wait. A command may come while its conversation is about to wait, after that has
 * looked for commands for the last time: whoever took the command sees a conversation at work. The job in the commit of
 * the waiting looks once more, so a command that was acknowledged is carried out, whichever process dies.
 */
@Injectable()
export class ConversationWaking {
  constructor(
    jobs: Jobs,
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly commands: ConversationCommands,
    private readonly address: ServiceAddress,
  ) {
    jobs.register(WAKE, { read: readWakePayload, run: (payload) => this.lookOnceMore(payload) });
  }

  /** Has a conversation that waits go on; leaves one alone that does not. */
  async wake(conversationId: string, { scope, baseUrl }: Pick<ApiCall, 'scope' | 'baseUrl'>): Promise<void> {
    const stored = await this.tasks.load(conversationId, scope);
    if (!stored || !isWaitingState(stored.header.state)) return;
    const agent = await this.agentOf(stored);
    const message = userMessage('Go on.', { metadata: { [WAKE_KEY]: true } });
    const call = { scope, agent: agent.path, extensions: [], baseUrl };
    try {
      const execution = await this.executions.resume(agent, conversationId, { message }, call);
      await execution.accepted;
    } catch (error) {
      // Somebody else woke it: whoever executes it finds the command.
      if (error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION') return;
      throw error;
    }
  }

  /** The agent whose Task the conversation is, as it was when that began. */
  agentOf({ header, task }: StoredTask): Promise<ServedAgent> {
    const revision = task.metadata?.[REVISION_KEY];
    return this.catalog
      .inTenant(header.tenant)
      .resolve(header.agent, typeof revision === 'string' ? revision : undefined);
  }

  private async lookOnceMore({ conversationId, command }: WakePayload): Promise<void> {
    const missed = await this.commands.after(conversationId, command);
    if (missed.every(({ kind }) => kind === 'pause')) return;
    const header = await this.tasks.header(conversationId);
    if (header) await this.wake(conversationId, { scope: header, baseUrl: this.address.internalUrl });
  }
}
