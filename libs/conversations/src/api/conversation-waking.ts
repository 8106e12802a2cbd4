import { Injectable } from '@nestjs/common';
import { type ProcessCall, Processes } from '#libs/durable';
import { isTaskBusy } from '#libs/executor';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import { isWaitingState, userMessage } from '#libs/protocol';
import { TaskStore } from '#libs/tasks';
import { ConversationCommands, readWakePayload, WAKE, wakeJob, type WakePayload } from '../conversation-command.js';
import { WAKE_KEY } from '../conversation-state.js';

/**
 * Resumes conversations that wait, so that an acknowledged command is executed even if a process dies.
 *
 * A command may arrive after a conversation has checked for commands and before its Task waits. The request that adds
 * the command then sees an active conversation, and does not resume it. For this case, the commit that makes the Task
 * wait enqueues a job, which checks for commands once more.
 */
@Injectable()
export class ConversationWaking {
  constructor(
    private readonly jobs: Jobs,
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly commands: ConversationCommands,
    private readonly address: ServiceAddress,
  ) {
    jobs.registerHandler(WAKE, { read: readWakePayload, run: (payload) => this.lookOnceMore(payload) });
  }

  /**
   * Resumes a waiting conversation, so that it executes a durable command. If another request is just resuming its
   * Task, enqueues a job that resumes it later.
   * @param command number of the command
   */
  async wakeFor(command: number, conversationId: string, call: ProcessCall): Promise<void> {
    try {
      await this.wakeIfWaiting(conversationId, call);
    } catch (error) {
      // After an error the caller would send the command a second time.
      if (!isTaskBusy(error)) throw error;
      await this.jobs.enqueueJobs([{ ...wakeJob(conversationId, command - 1), caller: call.scope }]);
    }
  }

  /** Resumes a conversation if it waits. */
  private async wakeIfWaiting(conversationId: string, call: ProcessCall): Promise<void> {
    const stored = await this.tasks.loadTask(conversationId, call.scope);
    if (!stored || !isWaitingState(stored.header.state)) return;
    // If another caller has resumed it first, the executing replica finds the command.
    await this.processes.resumeProcess(stored, userMessage('Go on.', { metadata: { [WAKE_KEY]: true } }), call);
  }

  private async lookOnceMore({ conversationId, command }: WakePayload): Promise<void> {
    const missed = await this.commands.listAfter(conversationId, command);
    if (missed.every(({ kind }) => kind === 'pause')) return;
    const header = await this.tasks.readHeader(conversationId);
    if (header) await this.wakeIfWaiting(conversationId, { scope: header, baseUrl: this.address.internalUrl });
  }
}
