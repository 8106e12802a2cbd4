import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ProblemEntry, QueryPageSize, QueryPageToken, QueryWholePageSize } from '#libs/http-server';
import type { DeliveryCause } from '../storage/delivery-writer.js';
import { DELIVERY_STATES, type DeliveryState, type TriggerDelivery } from '../storage/trigger-deliveries.js';
import { MOST_TRIGGERS, type Trigger, TRIGGER_NAME } from '../storage/triggers.js';
import { TriggerBody } from './trigger-body.js';

/** Query of one page of the list of triggers. */
export class TriggerQuery {
  @QueryWholePageSize(MOST_TRIGGERS)
  pageSize = MOST_TRIGGERS;

  @QueryPageToken((token) => TRIGGER_NAME.test(token), 'on-push')
  pageToken?: string;
}

/** Query of one page of the deliveries of a trigger. */
export class DeliveryQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryPageToken((token) => DELIVERY_NUMBER.test(token), '1234')
  pageToken?: string;
}

export const DELIVERY_NUMBER = /^\d{1,18}$/;

export class TriggerView extends TriggerBody {
  @ApiPropertyOptional({
    format: 'uri',
    example: 'https://parley.example.com/hooks/3f0c9a572f8f0f6f3b525d1a4c1e7a53',
    description: 'Address for the deliveries of a webhook.',
  })
  url?: string;

  @ApiProperty({ example: 'ann', description: 'Caller under whose name the runs are started.' })
  owner!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

export class TriggerListView {
  @ApiProperty({ type: [TriggerView] })
  triggers!: TriggerView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

/** Delivery of a trigger, and what came of it. */
export class TriggerDeliveryView {
  @ApiProperty({ example: '1234' })
  number!: string;

  @ApiProperty({
    example: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    description: 'Id by which the sender repeats the delivery; a digest of the body if it sends none.',
  })
  deliveryId!: string;

  @ApiProperty({ enum: ['delivery', 'replay', 'run'] })
  cause!: DeliveryCause;

  @ApiProperty({
    enum: DELIVERY_STATES,
    description:
      'State of the run; `ended` for a run that is no longer stored. `filtered`, `rejected` and `skipped` have no run.',
  })
  state!: DeliveryState;

  @ApiPropertyOptional({
    description: 'Absent if no run was started.',
    example: '019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11',
  })
  runId?: string;

  @ApiPropertyOptional({ example: 'The condition of the trigger is false.' })
  reason?: string;

  @ApiPropertyOptional({ type: [ProblemEntry], description: 'Members of the trigger at fault.' })
  errors?: ProblemEntry[];

  @ApiProperty({ description: 'True if the content is still kept, so that the delivery can be sent again.' })
  replayable!: boolean;

  @ApiProperty({ format: 'date-time' })
  receivedAt!: string;
}

export class TriggerDeliveryListView {
  @ApiProperty({ type: [TriggerDeliveryView] })
  deliveries!: TriggerDeliveryView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

/** Answer to a delivery that was taken. */
export class DeliveryAnswerView {
  @ApiProperty({ example: '1234', description: 'Number of the delivery in the history of its trigger.' })
  number!: string;

  @ApiPropertyOptional({
    description: 'Id of the run; absent if the delivery starts none.',
    example: '019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11',
  })
  runId?: string;

  @ApiPropertyOptional({
    description: 'Sentence why no run is started.',
    example: 'The condition of the trigger is false.',
  })
  reason?: string;
}

/** Returns the view of a trigger. @param baseUrl URL by which the caller reached the service */
export function triggerView(trigger: Trigger, baseUrl: string): TriggerView {
  const { name, workflow, source, rules, owner, hookId, createdAt, updatedAt } = trigger;
  const view = {
    ...{ name, workflow, ...source, ...rules, owner },
    ...(source.webhook && { url: `${baseUrl}/hooks/${hookId}` }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
  // The accessors of the body belong to requests only.
  return view as unknown as TriggerView;
}

export function deliveryView({ receivedAt, ...delivery }: TriggerDelivery): TriggerDeliveryView {
  return { ...delivery, receivedAt: receivedAt.toISOString() };
}
