import { Injectable } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { DELIVER, readDeliverPayload } from './deliver-job.js';
import { DeliveryStore } from './delivery-store.js';
import { PushQueues } from './push-queues.js';
import { PushRepeats } from './push-repeats.js';
import { readRedelivery, REDELIVER } from './redeliver-job.js';
import { readServePayload, SERVE } from './serve-job.js';

/** Hands the jobs of earlier versions to the queues of webhooks: jobs that sent to one config, or held a lane. */
@Injectable()
export class PushJobs {
  constructor(jobs: Jobs, store: DeliveryStore, queues: PushQueues, repeats: PushRepeats) {
    jobs.registerHandler(DELIVER, {
      purpose: 'push',
      read: readDeliverPayload,
      run: ({ pushId, turn }) => store.takeOver(pushId, turn),
    });
    jobs.registerHandler(SERVE, {
      purpose: 'push',
      read: readServePayload,
      run: ({ receiver, holder }) => queues.takeOverLane(receiver, holder),
    });
    jobs.registerHandler(REDELIVER, { purpose: 'push', read: readRedelivery, run: (repeat) => repeats.add(repeat) });
  }
}
