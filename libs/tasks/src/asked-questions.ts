import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, Metrics, OnFact } from '#libs/service';

/** Reports Tasks that wait for an answer or a login, as a metric and a log line at level debug. */
@Injectable()
export class AskedQuestions {
  private readonly logger = new Logger(AskedQuestions.name);
  private readonly asked;

  constructor(metrics: Metrics) {
    const description = 'Times that a Task began to wait for an answer or a login, as committed by this replica';
    this.asked = metrics.counter('parley_questions_total', description, ['state']);
  }

  @OnFact('question.asked')
  countQuestion({ state }: FactPayloads['question.asked']): void {
    this.asked.inc({ state });
  }

  @OnFact('question.asked')
  logQuestion({ taskId, agent, state }: FactPayloads['question.asked']): void {
    this.logger.debug({ taskId, agent, state }, 'A task asks');
  }
}
