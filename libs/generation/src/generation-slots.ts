import { Injectable } from '@nestjs/common';
import { CallerSlots } from '#libs/access';
import { Metrics } from '#libs/service';
import { MOST_AT_A_TIME, MOST_IN_PROCESS, MOST_OF_TENANT } from './generation-limits.js';

/** Limits how many workflows models write at a time. */
@Injectable()
export class GenerationSlots extends CallerSlots {
  constructor(metrics: Metrics) {
    super(metrics, {
      most: { caller: MOST_AT_A_TIME, tenant: MOST_OF_TENANT, service: MOST_IN_PROCESS },
      refusals: {
        caller: `A caller may have ${MOST_AT_A_TIME} workflows written at a time`,
        tenant: `The callers of a tenant may have ${MOST_OF_TENANT} workflows written at a time`,
        service: 'Too many workflows are being written',
      },
      limit: 'generations',
      retryAfterSeconds: 5,
      metrics: {
        taken: { name: 'parley_generations', help: 'Workflows that models write at the moment' },
        refused: {
          name: 'parley_generations_refused_total',
          help: 'Descriptions refused because too many workflows are being written',
        },
      },
    });
  }
}
