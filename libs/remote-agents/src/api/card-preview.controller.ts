import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ApiProblem, QueryText } from '#libs/http';
import { LONGEST_URL } from '#libs/protocol';
import { CardPreviews } from './card-preview.js';
import { CardPreviewView } from './card-views.js';

/** Whose card is looked at. */
export class CardPreviewQuery {
  @QueryText(isHttpUrl, `must be an http or https URL of at most ${LONGEST_URL} characters`, {
    required: true,
    description: "The agent's base URL, or its card's.",
    example: 'https://agent.example.com',
  })
  url!: string;
}

/** What somebody who is about to use an agent wants to know of it: its card, and what is wrong with it. */
@ApiTags('agents')
@Controller('api/agent-card')
export class CardPreviewController {
  constructor(private readonly previews: CardPreviews) {}

  @Get()
  @ApiOperation({ summary: "An agent's card as it is now, what is wrong with it, and whether its signature is valid." })
  @ApiOkResponse({ type: CardPreviewView })
  @ApiProblem(400, 'The URL is missing or malformed.')
  previewAgentCard(@Query() { url }: CardPreviewQuery, @Caller() { tenant }: Caller): Promise<CardPreviewView> {
    return this.previews.of(url, tenant);
  }
}

function isHttpUrl(text: string): boolean {
  return text.length <= LONGEST_URL && URL.canParse(text) && /^https?:/i.test(text);
}
