import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ApiProblem, QueryText } from '#libs/http';
import { LONGEST_URL } from '#libs/protocol';
import { CardPreviews } from './card-preview.js';
import { CardPreviewView } from './card-views.js';

/** Agent whose card is previewed. */
export class CardPreviewQuery {
  @QueryText(isHttpUrl, `must be an http or https URL of at most ${LONGEST_URL} characters`, {
    required: true,
    description: "The agent's base URL, or its card's.",
    example: 'https://agent.example.com',
  })
  url!: string;
}

/** Previews the card of an agent for people about to use it, with the card's problems. */
@ApiTags('agents')
@Controller('api/agent-card')
export class CardPreviewController {
  constructor(private readonly previews: CardPreviews) {}

  @Get()
  @ApiOperation({ summary: "An agent's card as it is now, what is wrong with it, and whether its signature is valid." })
  @ApiOkResponse({ type: CardPreviewView })
  @ApiProblem(400, 'The URL is missing or malformed.')
  previewAgentCard(@Query() { url }: CardPreviewQuery, @Caller() { tenant }: Caller): Promise<CardPreviewView> {
    return this.previews.previewCard(url, tenant);
  }
}

function isHttpUrl(text: string): boolean {
  return text.length <= LONGEST_URL && URL.canParse(text) && /^https?:/i.test(text);
}
