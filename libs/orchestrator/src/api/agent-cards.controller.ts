import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { AgentCallError, AgentDirectory } from '#libs/a2a-client';
import { scopeOf } from '#libs/access';
import { ApiProblem, malformed, single } from '#libs/platform';
import type { AgentCard } from '#libs/protocol';
import type { FastifyRequest } from 'fastify';
import { CARD_PREVIEW_SCHEMA } from './api-schemas.js';
import { type CardProblem, cardProblems } from './card-problems.js';

/** An agent's card as this service sees it, and what is wrong with it. */
export interface CardPreview {
  url: string;
  /** Absent where the agent cannot be reached or has none. */
  card?: AgentCard;
  problems: CardProblem[];
}

const LONGEST_URL = 2_000;
/** A person waits for the answer. */
const TIMEOUTS = { connect: 3_000, firstEvent: 5_000, total: 8_000 };

/** What somebody who is about to use an agent wants to know of it (row E9). */
@ApiTags('agents')
@Controller('api/agent-card')
export class AgentCardsController {
  constructor(private readonly agents: AgentDirectory) {}

  @Get()
  @ApiOperation({ summary: 'The card of the agent at a URL, as a run would see it, and what is wrong with it.' })
  @ApiQuery({ name: 'url', description: "The agent's base URL, or its card's." })
  @ApiOkResponse({ schema: CARD_PREVIEW_SCHEMA })
  @ApiProblem(400, 'The URL is missing or malformed.')
  async preview(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<CardPreview> {
    const url = single(query, 'url');
    if (url === undefined || url.length > LONGEST_URL || !/^https?:/i.test(url) || !URL.canParse(url)) {
      throw malformed({ path: 'url', detail: `must be an http or https URL of at most ${LONGEST_URL} characters` });
    }
    try {
      const { card } = await this.agents.client(url, { scope: scopeOf(request.raw), timeouts: TIMEOUTS });
      return card === undefined ? { url, problems: [NO_CARD] } : { url, card, problems: cardProblems(card) };
    } catch (error) {
      if (!(error instanceof AgentCallError)) throw error;
      return { url, problems: [{ path: 'url', detail: error.message }] };
    }
  }
}

const NO_CARD: CardProblem = { path: 'url', detail: 'the agent has no card; it is called at its URL as it is' };
