import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { scopeOf } from '#libs/access';
import { ApiProblem, single } from '#libs/http';
import type { FastifyRequest } from 'fastify';
import { type CardPreview, CardPreviews } from './card-preview.js';
import { CARD_PREVIEW_SCHEMA } from './card-schemas.js';

/** What somebody who is about to use an agent wants to know of it (row E9). */
@ApiTags('agents')
@Controller('api/agent-card')
export class CardPreviewController {
  constructor(private readonly previews: CardPreviews) {}

  @Get()
  @ApiOperation({ summary: "An agent's card as it is now, what is wrong with it, and whether its signature is valid." })
  @ApiQuery({ name: 'url', description: "The agent's base URL, or its card's." })
  @ApiOkResponse({ schema: CARD_PREVIEW_SCHEMA })
  @ApiProblem(400, 'The URL is missing or malformed.')
  preview(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<CardPreview> {
    return this.previews.of(single(query, 'url'), scopeOf(request.raw).tenant);
  }
}
