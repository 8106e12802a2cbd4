import { Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { scopeOf } from '#libs/access';
import type { FastifyRequest } from 'fastify';
import { DELIVERY_STATUSES, readDeliveriesQuery } from './deliveries-query.js';
import { type Delivery, DeliveryLedger, type DeliveryPage } from './delivery-ledger.js';

/** The ledger of push notifications. */
@ApiTags('push')
@Controller('api/deliveries')
export class DeliveriesController {
  constructor(private readonly ledger: DeliveryLedger) {}

  @Get()
  @ApiOperation({ summary: 'Push notifications that were tried, the newest first.' })
  @ApiQuery({ name: 'taskId', required: false })
  @ApiQuery({ name: 'status', required: false, enum: DELIVERY_STATUSES })
  @ApiQuery({ name: 'pageSize', required: false, description: '1 to 100, default 50.' })
  @ApiQuery({ name: 'pageToken', required: false, description: 'The nextPageToken of the page before.' })
  list(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<DeliveryPage> {
    return this.ledger.page(scopeOf(request.raw), readDeliveriesQuery(query));
  }

  @Post(':id/redeliver')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Sends a notification again: a delivered one by itself, any other at once with all that follow it.',
  })
  redeliver(@Param('id') id: string, @Req() request: FastifyRequest): Promise<Delivery> {
    return this.ledger.redeliver(scopeOf(request.raw), id);
  }
}
