import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ApiProblem } from '#libs/http';
import { RemoteAgentCards } from '../remote-agent-cards.js';
import { AcceptBody } from './accept-body.js';
import { CardDetailView, CardPageView } from './card-views.js';
import { CardsQuery } from './cards-query.js';

/** Pinned cards of agents that were called, and their changes since. */
@ApiTags('agents')
@Controller('api/agent-cards')
export class CardsController {
  constructor(private readonly cards: RemoteAgentCards) {}

  @Get()
  @ApiOperation({ summary: 'The cards of agents that were called, in the order of their URLs.' })
  @ApiOkResponse({ type: CardPageView })
  @ApiProblem(400, 'A parameter is malformed.')
  listAgentCards(@Query() query: CardsQuery, @Caller() { tenant }: Caller): Promise<CardPageView> {
    return this.cards.listCards(tenant, query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One card as it was pinned, the one that waits to be accepted, and all changes.' })
  @ApiOkResponse({ type: CardDetailView })
  @ApiProblem(404, 'There is no such card.')
  getAgentCard(@Param('id') id: string, @Caller() { tenant }: Caller): Promise<CardDetailView> {
    return this.cards.getDetail(tenant, id);
  }

  @Post(':id/accept')
  @HttpCode(200)
  @ApiOperation({ summary: 'Accepts what was seen last: it is pinned from now on, and calls go on.' })
  @ApiOkResponse({ type: CardDetailView })
  @ApiBody({ type: AcceptBody, required: false })
  @ApiProblem(404, 'There is no such card.')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'No such change waits to be accepted.')
  acceptAgentCard(
    @Param('id') id: string,
    @Body() { hash }: AcceptBody,
    @Caller() { tenant, owner }: Caller,
  ): Promise<CardDetailView> {
    return this.cards.acceptCard(tenant, id, owner, hash);
  }
}
