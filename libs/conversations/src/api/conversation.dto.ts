import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches, NotContains } from 'class-validator';
import { ApiClosed, PageQuery, ProblemError, QueryWord } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { ConversationRequest, GIVEN, settingsOf, wholeRequestProblems } from '../conversation-request.js';
import type { Announcement } from '../conversation-state.js';
import type { ConversationOverview as Summary, ConversationStatus, ConversationView } from '../conversation-view.js';
import type { ConversationOutcome, SpokenTurn, TalkOrigin as Origin, TurnFailure } from '../conversation.js';

const STATUSES: ConversationStatus[] = ['active', 'complete'];
const OUTCOMES = ['done', 'skipped', 'max_turns', 'error', 'canceled', 'timeout'];
const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' };

/** Example bodies for OpenAPI. The agents in them exist once the examples of `/api/apply` are saved. */
export const CONVERSATION_EXAMPLES = {
  'two agents': {
    value: { requester: 'poet', target: 'critic', message: 'What do you think of this verse?', maxTurns: 5 },
  },
};

/** Body of a request to start a conversation. */
@ApiClosed()
export class ConversationBody extends ConversationRequest {
  /** Body as it was sent; it becomes the data Part of the Task's first Message. */
  sent!: JsonObject;

  /**
   * Validates a body by the rules that also hold for a request over A2A.
   * @throws ProblemError naming the fields: 422 if all values have the right type but one is not allowed, else 400
   */
  static from(sent: JsonObject): ConversationBody {
    const body = Object.assign(new ConversationBody(), { sent });
    const problems = wholeRequestProblems(sent);
    if (problems.length === 0) return Object.assign(body, settingsOf(sent));
    const status = problems.every(({ range }) => range) ? 422 : 400;
    const entries = problems.map(({ field, description }) => ({ path: field, detail: description }));
    throw new ProblemError(status, entries.map(({ path, detail }) => `${path}: ${detail}`).join('; '), entries);
  }
}

/** Body of a request to inject a turn: the text replaces the answer of the agent whose turn is next. */
@ApiClosed()
export class TurnBody {
  static readonly unknown = 'is not a member of a turn';

  @ApiProperty({ pattern: GIVEN.source, example: 'Make it rhyme.' })
  @Matches(GIVEN, {
    message: ({ value }) => (typeof value === 'string' ? 'must not be empty' : 'must be a string'),
  })
  @NotContains('\0', {
    message: ({ value }) => (typeof value === 'string' ? 'must not contain a NUL character' : 'must be a string'),
  })
  text!: string;
}

/** Query parameters for listing conversations. */
export class ConversationQuery extends PageQuery {
  @QueryWord(STATUSES)
  status?: ConversationStatus;
}

export class ConversationId {
  @ApiProperty({
    description: 'A2A taskId of the conversation.',
    example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e',
  })
  conversationId!: string;
}

/** Tool call that started a conversation. */
class ConversationOrigin implements Origin {
  @ApiProperty({ description: 'A2A taskId of the agent.', example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e' })
  taskId!: string;

  @ApiProperty({
    description: 'Id of the tool call by which the model of an `agent` node started the conversation.',
    example: 'call_1',
  })
  call!: string;
}

/** Conversation in a list. */
export class ConversationSummary extends ConversationId implements Summary {
  @ApiProperty({ example: 'poet' }) requester!: string;
  @ApiProperty({ example: 'critic' }) target!: string;
  @ApiProperty({ enum: STATUSES }) status!: ConversationStatus;
  @ApiPropertyOptional({ enum: OUTCOMES }) outcome?: ConversationOutcome;
  @ApiPropertyOptional({
    type: Boolean,
    description: 'Present while the conversation is paused or waits for a person to answer a question of an agent.',
  })
  paused?: true;
  @ApiProperty({ type: 'integer', example: 5 }) maxTurns!: number;
  @ApiProperty({ type: 'integer', example: 60_000, description: 'Time limit of one turn, in milliseconds.' })
  timeoutMs!: number;
  @ApiPropertyOptional({ type: ConversationOrigin })
  origin?: ConversationOrigin;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

export class ConversationPage {
  @ApiProperty({ type: [ConversationSummary] }) conversations!: ConversationSummary[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

class ConversationTurn implements SpokenTurn {
  @ApiProperty({ type: 'integer', description: 'Number of the turn, from 0.', example: 0 }) turn!: number;
  @ApiProperty({ example: 'poet' }) fromAgent!: string;
  @ApiProperty({ example: 'critic' }) toAgent!: string;
  @ApiProperty({ example: 'It does not rhyme yet.' }) text!: string;
  @ApiProperty({ type: 'integer', description: 'Time of the turn, in epoch milliseconds.', example: 1_769_851_800_000 })
  ts!: number;
}

class ConversationFailure implements TurnFailure {
  @ApiProperty({ type: 'integer', example: 3 }) turn!: number;
  @ApiProperty({ example: 'AGENT_NOT_FOUND' }) code!: string;
  @ApiProperty({ example: 'there is no agent "critic"' }) message!: string;
  @ApiProperty({ description: 'True if a retry of the turn may succeed.' }) retryable!: boolean;
}

/** Conversation with its turns. */
export class ConversationDetail extends ConversationSummary implements ConversationView {
  @ApiPropertyOptional({
    description: 'Question of an agent that a person has to answer before the next turn, by a Message to the Task.',
    example: 'The agent "poet" asks: May the tool "web/publish" be called?',
  })
  question?: string;
  @ApiProperty({ type: [ConversationTurn] }) turns!: SpokenTurn[];
  @ApiPropertyOptional({ type: ConversationFailure }) error?: TurnFailure & { turn: number };
  @ApiPropertyOptional({ enum: ['delivered', 'silenced', 'failed'] }) announcement?: Announcement;
}
