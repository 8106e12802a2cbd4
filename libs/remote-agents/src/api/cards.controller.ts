import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { Caller } from '#libs/access';
import { ApiClosed, ApiProblem, QueryText } from '#libs/http-server';
import { type AgentCard, type JsonObject, LONGEST_URL } from '#libs/protocol';
import type { CardChange } from '../card-changes.js';
import type { CardSignatureReport } from '../card-signatures.js';
import {
  CARD_STATUSES,
  CardsQuery,
  type RecordedChange,
  type RemoteAgentCard,
  type RemoteAgentCardDetail,
  type RemoteAgentCardPage,
  RemoteAgentCards,
  type RemoteAgentCardStatus,
} from '../remote-agent-cards.js';
import { type CardPreview, CardPreviews } from './card-preview.js';
import type { CardProblem } from './card-problems.js';

const HASH_FORM = /^[\w-]{0,100}$/;

/** Body that accepts a changed card. */
@ApiClosed()
class AcceptBody {
  static readonly unknown = 'is not a member of this request';
  static readonly optional = true;

  @ApiPropertyOptional({
    pattern: HASH_FORM.source,
    description: 'Hash of the card that was reviewed; a different card is not accepted.',
    example: 'qK3l0x7pS9n1',
  })
  @IsOptional()
  @Matches(HASH_FORM, { message: 'must be the hash of a card' })
  hash?: string;
}

const EXAMPLE_URL = 'https://agent.example.com/a2a';
const EXAMPLE_HASH = 'qK3l0x7pS9n1';
const CARD = { name: 'Translator', description: 'Translates texts', version: '1.0.0', skills: [] };

class CardView implements RemoteAgentCard {
  @ApiProperty({ format: 'uuid', example: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11' })
  id!: string;

  @ApiProperty({ example: EXAMPLE_URL })
  url!: string;

  @ApiProperty({ example: 'Translator' })
  name!: string;

  @ApiProperty({
    enum: CARD_STATUSES,
    description: '`changed`: a card that differs from the pinned one was seen and is not accepted yet.',
  })
  status!: RemoteAgentCardStatus;

  @ApiProperty({ description: 'True if calls are rejected until the change is accepted.' })
  blocked!: boolean;

  @ApiProperty({ example: EXAMPLE_HASH })
  hash!: string;

  @ApiPropertyOptional({ description: 'Hash of the card that waits to be accepted.', example: 'x0pS9n1qK3l7' })
  seenHash?: string;

  @ApiProperty({ format: 'date-time' })
  firstSeenAt!: string;

  @ApiProperty({ format: 'date-time' })
  lastSeenAt!: string;

  @ApiPropertyOptional({ format: 'date-time' })
  acceptedAt?: string;

  @ApiPropertyOptional({ example: 'ann' })
  acceptedBy?: string;
}

class CardPageView implements RemoteAgentCardPage {
  @ApiProperty({ type: [CardView] })
  cards!: CardView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

class CardChangeView implements RecordedChange {
  @ApiProperty({ example: EXAMPLE_HASH })
  from!: string;

  @ApiProperty({ example: 'x0pS9n1qK3l7' })
  to!: string;

  @ApiProperty({ description: 'True if the difference affects callers.' })
  significant!: boolean;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'path, kind, significant, before?, after?',
    example: [{ path: '/name', kind: 'changed', significant: true, before: 'Translator', after: 'Interpreter' }],
  })
  changes!: CardChange[];

  @ApiProperty({ type: 'integer', description: 'Number of times the change was seen.', example: 1 })
  times!: number;

  @ApiProperty({ format: 'date-time' })
  firstSeenAt!: string;

  @ApiProperty({ format: 'date-time' })
  lastSeenAt!: string;

  @ApiPropertyOptional({ format: 'date-time' })
  acceptedAt?: string;

  @ApiPropertyOptional({
    description: 'Caller who accepted the change; absent if the policy accepted it.',
    example: 'ann',
  })
  acceptedBy?: string;
}

class CardDetailView extends CardView implements RemoteAgentCardDetail {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Pinned card; null if the agent was accepted without a card.',
    example: CARD,
  })
  card!: JsonObject | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Card that waits to be accepted; null if the agent no longer has one.',
    example: { ...CARD, name: 'Interpreter' },
  })
  seenCard?: JsonObject | null;

  @ApiProperty({ type: [CardChangeView], description: 'Changes, newest first.' })
  changes!: CardChangeView[];
}

class CardProblemView implements CardProblem {
  @ApiProperty({ enum: ['error', 'warning'] })
  level!: CardProblem['level'];

  @ApiProperty({ description: "Path of the member; `''` for the whole card.", example: 'skills[0].id' })
  path!: string;

  @ApiProperty({ example: 'must be a string' })
  detail!: string;
}

/** Current card of an agent, with its problems, the state of its signatures, and its pin. */
class CardPreviewView implements CardPreview {
  @ApiProperty({ example: EXAMPLE_URL })
  url!: string;

  @ApiPropertyOptional({
    description: 'URL of the card; absent if there is none.',
    example: `${EXAMPLE_URL}/.well-known/agent-card.json`,
  })
  cardUrl?: string;

  @ApiPropertyOptional({ enum: ['1.0', '0.3', 'pre-1.0'], description: 'A2A version of the card.' })
  version?: '1.0' | '0.3' | 'pre-1.0';

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'AgentCard in the form of A2A 1.0; absent if none could be read.',
    example: CARD,
  })
  card?: AgentCard;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'state (valid, invalid, untrusted, unsigned) and signatures, one report each.',
    example: { state: 'valid', signatures: [{ state: 'valid', alg: 'ES256', kid: 'k1' }] },
  })
  signature?: CardSignatureReport;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'id, status and blocked of the pinned card; same: true if the card equals it.',
    example: { id: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11', status: 'pinned', blocked: false, same: true },
  })
  pin?: NonNullable<CardPreview['pin']>;

  @ApiProperty({ type: [CardProblemView] })
  problems!: CardProblemView[];
}

/** Lists the pinned cards of called agents with their changes, and accepts changed cards. */
@ApiTags('agents')
@Controller('api/agent-cards')
export class CardsController {
  constructor(private readonly cards: RemoteAgentCards) {}

  @Get()
  @ApiOperation({ summary: 'Lists the cards of called agents, ordered by URL.' })
  @ApiOkResponse({ type: CardPageView })
  @ApiProblem(400, 'A parameter is malformed.')
  listAgentCards(@Query() query: CardsQuery, @Caller() { tenant }: Caller): Promise<CardPageView> {
    return this.cards.listCards(tenant, query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Returns a pinned card, the card that waits to be accepted, and all changes.' })
  @ApiOkResponse({ type: CardDetailView })
  @ApiProblem(404, 'There is no such card.')
  getAgentCard(@Param('id') id: string, @Caller() { tenant }: Caller): Promise<CardDetailView> {
    return this.cards.getDetail(tenant, id);
  }

  @Post(':id/accept')
  @HttpCode(200)
  @ApiOperation({ summary: 'Accepts the card that was seen last: it becomes the pinned card, and calls continue.' })
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

/** Query that names the agent whose card is previewed. */
export class CardPreviewQuery {
  @QueryText(isHttpUrl, `must be an http or https URL of at most ${LONGEST_URL} characters`, {
    required: true,
    description: 'Base URL of the agent, or the URL of its card.',
    example: 'https://agent.example.com',
  })
  url!: string;
}

/** Previews the current card of an agent, with its problems, for a person who may call the agent. */
@ApiTags('agents')
@Controller('api/agent-card')
export class CardPreviewController {
  constructor(private readonly previews: CardPreviews) {}

  @Get()
  @ApiOperation({
    summary: 'Fetches the current card of an agent and reports its problems and the state of its signature.',
  })
  @ApiOkResponse({ type: CardPreviewView })
  @ApiProblem(400, 'The URL is missing or malformed.')
  previewAgentCard(@Query() { url }: CardPreviewQuery, @Caller() { tenant }: Caller): Promise<CardPreviewView> {
    return this.previews.previewCard(url, tenant);
  }
}

function isHttpUrl(text: string): boolean {
  return text.length <= LONGEST_URL && URL.canParse(text) && /^https?:/i.test(text);
}
