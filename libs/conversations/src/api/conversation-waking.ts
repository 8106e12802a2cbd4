import { Injectable } from '@nestjs/common';
import { isTaskBusy } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { Jobs } from '#libs/jobs';
import { type ProcessCall, Processes } from '#libs/process';
import { isWaitingState, userMessage } from '#libs/protocol';
import { TaskStore } from '#libs/tasks';
import { ConversationCommands } from '../conversation-command.js';
import { WAKE_KEY } from '../conversation-state.js';
import { readWakePayload, WAKE, wakeJob, type WakePayload } from '../wake-job.js';

/**
 * Goes on with conversations that wait. A command may come while its conversation is about to wait, after that has
 * looked for commands for the last time: whoever took the command sees a conversation at work. The job in the commit of
 * the waiting looks once more, so a command that was acknowledged is carried out, whichever process dies.
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
    jobs.register(WAKE, { read: readWakePayload, run: (payload) => this.lookOnceMore(payload) });
  }

  /** Has a conversation that waits carry out a durable command; a job does, where another request holds its Task. */
  async wakeFor(command: number, conversationId: string, call: ProcessCall): Promise<void> {
    try {
      await this.wake(conversationId, call);
    } catch (error) {
      // Its caller would send the command a second time.
      if (!isTaskBusy(error)) throw error;
      await this.jobs.enqueue([{ ...wakeJob(conversationId, command - 1), caller: call.scope }]);
    }
  }

  /** Has a conversation that waits go on; leaves one alone that does not. */
  private async wake(conversationId: string, call: ProcessCall): Promise<void> {
    const stored = await this.tasks.load(conversationId, call.scope);
    if (!stored || !isWaitingState(stored.header.state)) return;
    // Where somebody else woke it, whoever executes it finds the command.
    await this.processes.resume(stored, userMessage('Go on.', { metadata: { [WAKE_KEY]: true } }), call);
  }

  private async lookOnceMore({ conversationId, command }: WakePayload): Promise<void> {
    const missed = await this.commands.after(conversationId, command);
    if (missed.every(({ kind }) => kind === 'pause')) return;
    const header = await this.tasks.header(conversationId);
    if (header) await this.wake(conversationId, { scope: header, baseUrl: this.address.internalUrl });
  }
}
