import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, OnFact } from '#libs/service';

/** Logs the ends of Tasks at level debug. */
@Injectable()
export class SettledTasks {
  private readonly logger = new Logger(SettledTasks.name);

  @OnFact('task.settled')
  logEnd({ taskId, agent, state }: FactPayloads['task.settled']): void {
    this.logger.debug({ taskId, agent, state }, 'A task has ended');
  }
}
