import { Injectable } from '@nestjs/common';
import { CallerSlots } from '#libs/access';
import { Metrics } from '#libs/service';

/** Maximum number of uploads that this process receives concurrently. */
const MOST = { caller: 4, tenant: 48, service: 64 };

/** Limits how many uploads are under way. */
@Injectable()
export class UploadSlots extends CallerSlots {
  constructor(metrics: Metrics) {
    super(metrics, {
      most: MOST,
      refusals: {
        caller: `${MOST.caller} uploads of yours are under way`,
        tenant: `${MOST.tenant} uploads of your tenant are under way`,
        service: 'Too many uploads are under way',
      },
      limit: 'uploads',
      retryAfterSeconds: 1,
      metrics: {
        taken: { name: 'parley_uploads', help: 'Uploads that this replica receives at the moment' },
        refused: { name: 'parley_uploads_refused_total', help: 'Uploads refused because too many are under way' },
      },
    });
  }
}
