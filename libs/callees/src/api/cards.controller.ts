import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { callerOf, scopeOf } from '#libs/access';
import { ApiPages, ApiProblem, readBody } from '#libs/http';
import type { FastifyRequest } from 'fastify';
import { type CalleeCardDetail, type CalleeCardPage, CalleeCards } from '../callee-cards.js';
import { AcceptBody } from './accept-body.js';
import { CARD_DETAIL_SCHEMA, CARD_PAGE_SCHEMA } from './card-schemas.js';
import { CARD_STATUSES, readCardsQuery } from './cards-query.js';

/** The cards of agents that were called: pinned at first use, with what has changed since. */
@ApiTags('agents')
@Controller('api/agent-cards')
export class CardsController {
  constructor(private readonly cards: CalleeCards) {}

  @Get()
  @ApiPages('The cards of agents that were called, in the order of their URLs.', CARD_PAGE_SCHEMA)
  @ApiQuery({ name: 'status', required: false, enum: CARD_STATUSES })
  list(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<CalleeCardPage> {
    return this.cards.page(scopeOf(request.raw).tenant, readCardsQuery(query));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One card as it was pinned, the one that waits to be accepted, and all changes.' })
  @ApiOkResponse({ schema: CARD_DETAIL_SCHEMA })
  @ApiProblem(404, 'There is no such card.')
  get(@Param('id') id: string, @Req() request: FastifyRequest): Promise<CalleeCardDetail> {
    return this.cards.detail(scopeOf(request.raw).tenant, id);
  }

  @Post(':id/accept')
  @HttpCode(200)
  @ApiOperation({ summary: 'Accepts what was seen last: it is pinned from now on, and calls go on.' })
  @ApiOkResponse({ schema: CARD_DETAIL_SCHEMA })
  @ApiBody({ required: false, schema: { type: 'object', properties: { hash: { type: 'string' } } } })
  @ApiProblem(404, 'There is no such card.')
  @ApiProblem(409, 'No such change waits to be accepted.')
  accept(@Param('id') id: string, @Body() body: unknown, @Req() request: FastifyRequest): Promise<CalleeCardDetail> {
    const { hash } = readBody(AcceptBody, body ?? {});
    const { tenant, owner } = callerOf(request.raw);
    return this.cards.accept(tenant, id, owner, hash);
  }
}
