import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem } from '#libs/http-server';
import type { TaskScope } from '#libs/tasks';
import { DeliveriesQuery, DeliveryPageView, DeliveryView } from './deliveries.dto.js';
import { DeliveryLedger } from './delivery-ledger.js';

/** Serves the ledger of push notifications at `/api/deliveries`. */
@ApiTags('push')
@Controller('api/deliveries')
export class DeliveriesController {
  constructor(private readonly ledger: DeliveryLedger) {}

  @Get()
  @ApiOperation({ summary: 'Lists push deliveries, newest first.' })
  @ApiOkResponse({ type: DeliveryPageView })
  @ApiProblem(400, 'A parameter is malformed.')
  listDeliveries(@Query() query: DeliveriesQuery, @Scope() scope: TaskScope): Promise<DeliveryPageView> {
    return this.ledger.listPage(scope, query);
  }

  @Post(':id/redeliver')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Retries a delivery: a delivered one alone, any other immediately together with those after it.',
  })
  @ApiAcceptedResponse({ type: DeliveryView })
  @ApiProblem(404, 'delivery not found')
  @ApiProblem(409, 'The config of the delivery was deleted.')
  redeliverNotification(@Param('id') id: string, @Scope() scope: TaskScope): Promise<DeliveryView> {
    return this.ledger.sendAgain(scope, id);
  }
}
