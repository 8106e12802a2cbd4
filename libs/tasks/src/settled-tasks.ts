import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, OnFact } from '#libs/service';

/** Reports the ends of Tasks to operators: a line of the log at level debug for each. */
@Injectable()
export class SettledTasks {
  private readonly logger = new Logger(SettledTasks.name);

  @OnFact('task.settled')
  log({ taskId, agent, state }: FactPayloads['task.settled']): void {
    this.logger.debug({ taskId, agent, state }, 'A task has ended');
  }
}
