import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type AgentCard, type JsonObject } from '#libs/protocol';
import type { CardChange } from '../card-changes.js';
import type { CardSignatureReport } from '../card-signatures.js';
import type {
  RemoteAgentCard,
  RemoteAgentCardDetail,
  RemoteAgentCardPage,
  RemoteAgentCardStatus,
  RecordedChange,
} from '../remote-agent-cards.js';
import type { CardPreview } from './card-preview.js';
import type { CardProblem } from './card-problems.js';
import { CARD_STATUSES } from './cards-query.js';

const URL = 'https://agent.example.com/a2a';
const HASH = 'qK3l0x7pS9n1';
const CARD = { name: 'Translator', description: 'Translates texts', version: '1.0.0', skills: [] };

export class CardView implements RemoteAgentCard {
  @ApiProperty({ format: 'uuid', example: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11' })
  id!: string;

  @ApiProperty({ example: URL })
  url!: string;

  @ApiProperty({ example: 'Translator' })
  name!: string;

  @ApiProperty({
    enum: CARD_STATUSES,
    description: '`changed`: another card than the pinned one was seen, and nobody has accepted it.',
  })
  status!: RemoteAgentCardStatus;

  @ApiProperty({ description: 'Whether calls are refused until the change is accepted.' })
  blocked!: boolean;

  @ApiProperty({ example: HASH })
  hash!: string;

  @ApiPropertyOptional({ description: 'Of the card that waits to be accepted.', example: 'x0pS9n1qK3l7' })
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

export class CardPageView implements RemoteAgentCardPage {
  @ApiProperty({ type: [CardView] })
  cards!: CardView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

class CardChangeView implements RecordedChange {
  @ApiProperty({ example: HASH })
  from!: string;

  @ApiProperty({ example: 'x0pS9n1qK3l7' })
  to!: string;

  @ApiProperty({ description: 'Whether it is about what callers rely on.' })
  significant!: boolean;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'path, kind, significant, before?, after?',
    example: [{ path: '/name', kind: 'changed', significant: true, before: 'Translator', after: 'Interpreter' }],
  })
  changes!: CardChange[];

  @ApiProperty({ type: 'integer', description: 'How often it was seen.', example: 1 })
  times!: number;

  @ApiProperty({ format: 'date-time' })
  firstSeenAt!: string;

  @ApiProperty({ format: 'date-time' })
  lastSeenAt!: string;

  @ApiPropertyOptional({ format: 'date-time' })
  acceptedAt?: string;

  @ApiPropertyOptional({ description: 'Absent where the policy accepted it.', example: 'ann' })
  acceptedBy?: string;
}

export class CardDetailView extends CardView implements RemoteAgentCardDetail {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'null where it was accepted that the agent has none.',
    example: CARD,
  })
  card!: JsonObject | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'The card that waits to be accepted; null: there is none any more.',
    example: { ...CARD, name: 'Interpreter' },
  })
  seenCard?: JsonObject | null;

  @ApiProperty({ type: [CardChangeView], description: 'The newest first.' })
  changes!: CardChangeView[];
}

class CardProblemView implements CardProblem {
  @ApiProperty({ enum: ['error', 'warning'] })
  level!: CardProblem['level'];

  @ApiProperty({ description: "The member; `''` is the whole.", example: 'skills[0].id' })
  path!: string;

  @ApiProperty({ example: 'must be a string' })
  detail!: string;
}

/** Current card of an agent, and its assessment. */
export class CardPreviewView implements CardPreview {
  @ApiProperty({ example: URL })
  url!: string;

  @ApiPropertyOptional({
    description: 'Where the card was found; absent where there is none.',
    example: `${URL}/.well-known/agent-card.json`,
  })
  cardUrl?: string;

  @ApiPropertyOptional({ enum: ['1.0', '0.3', 'pre-1.0'], description: 'The version of A2A that the card is one of.' })
  version?: '1.0' | '0.3' | 'pre-1.0';

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The AgentCard, in the form of A2A 1.0; absent where none could be read.',
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
    description: 'id, status and blocked of what is pinned; same: whether the card is that.',
    example: { id: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11', status: 'pinned', blocked: false, same: true },
  })
  pin?: NonNullable<CardPreview['pin']>;

  @ApiProperty({ type: [CardProblemView] })
  problems!: CardProblemView[];
}
