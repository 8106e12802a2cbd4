import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, Metrics, OnFact } from '#libs/service';

/** Reports replicas that have left or died, as a log line and a metric. */
@Injectable()
export class LeftReplicas {
  private readonly logger = new Logger(LeftReplicas.name);
  private readonly left;

  constructor(metrics: Metrics) {
    this.left = metrics.counter(
      'parley_replicas_left_total',
      'Replicas whose work this replica has seen to the end of',
    );
  }

  @OnFact('replica.left')
  countReplica(): void {
    this.left.inc();
  }

  @OnFact('replica.left')
  logReplica({ replicaId, takenOver }: FactPayloads['replica.left']): void {
    this.logger.log({ replicaId, takenOver }, 'A replica has left');
  }
}
