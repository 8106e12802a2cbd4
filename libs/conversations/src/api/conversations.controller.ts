import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type ApiCall, Call } from '#libs/access';
import { IdempotencyKey, ProcessStreams } from '#libs/durable';
import {
  ApiEventStream,
  ApiIdempotent,
  ApiLargeAnswer,
  ApiProblem,
  Cursor,
  LOCATION_HEADER,
  type StreamCursor,
} from '#libs/http-server';
import type { CommandKind } from '../conversation-command.js';
import {
  CONVERSATION_EXAMPLES,
  ConversationBody,
  ConversationDetail,
  ConversationId,
  ConversationPage,
  ConversationQuery,
  TurnBody,
} from './conversation.dto.js';
import { Conversations } from './conversations.js';

/** Routes of the management API for conversations of two agents. */
@ApiTags('conversations')
@Controller('api/conversations')
export class ConversationsController {
  constructor(
    private readonly conversations: Conversations,
    private readonly streams: ProcessStreams,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a conversation and answers at once.' })
  @ApiBody({ type: ConversationBody, examples: CONVERSATION_EXAMPLES })
  @ApiAcceptedResponse({ type: ConversationId, ...LOCATION_HEADER })
  @ApiIdempotent('conversation')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(422, 'A number is out of its range, or an agent is not known.')
  async startConversation(
    @Body() body: ConversationBody,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConversationId> {
    const conversationId = await this.conversations.startConversation(body, call, key);
    void reply.header('location', `/api/conversations/${conversationId}`);
    return { conversationId };
  }

  @Get()
  @ApiOperation({ summary: 'Lists conversations, most recently updated first.' })
  @ApiOkResponse({ type: ConversationPage })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiLargeAnswer()
  listConversations(@Query() query: ConversationQuery, @Call() call: ApiCall): Promise<ConversationPage> {
    return this.conversations.listConversations(query, call);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Returns one conversation with its turns.' })
  @ApiOkResponse({ type: ConversationDetail })
  @ApiProblem(404, 'conversation not found')
  @ApiLargeAnswer()
  getConversation(@Param('id') id: string, @Call() call: ApiCall): Promise<ConversationDetail> {
    return this.conversations.showConversation(id, call);
  }

  @Get(':id/events')
  @ApiEventStream(
    'Streams the events of a conversation, from the first or after a cursor, until it is complete.',
    '`a2a` with the phase `complete`',
    { stream: 'a2a', cseq: 7, data: { phase: 'complete' }, outcome: 'done' },
  )
  @ApiProblem(404, 'conversation not found')
  @ApiLargeAnswer()
  async streamConversationEvents(
    @Param('id') id: string,
    @Cursor() cursor: StreamCursor,
    @Call() call: ApiCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.streams.streamEvents(await this.conversations.findEvents(id, call), cursor, reply);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a conversation and the Task of its active agent immediately.' })
  @ApiOkResponse({ type: ConversationDetail })
  @ApiProblem(404, 'conversation not found')
  @ApiProblem(409, 'The conversation has ended with another outcome.')
  @ApiLargeAnswer()
  cancelConversation(@Param('id') id: string, @Call() call: ApiCall): Promise<ConversationDetail> {
    return this.conversations.cancelConversation(id, call);
  }

  @Post(':id/pause')
  @ApiCommand('Pauses a conversation after the current turn.')
  pauseConversation(@Param('id') id: string, @Call() call: ApiCall): Promise<ConversationId> {
    return this.sendCommand(id, 'pause', call);
  }

  @Post(':id/resume')
  @ApiCommand('Resumes a paused conversation.')
  resumeConversation(@Param('id') id: string, @Call() call: ApiCall): Promise<ConversationId> {
    return this.sendCommand(id, 'resume', call);
  }

  @Post(':id/stop')
  @ApiCommand('Completes a conversation after the current turn; its outcome is `done`.')
  stopConversation(@Param('id') id: string, @Call() call: ApiCall): Promise<ConversationId> {
    return this.sendCommand(id, 'stop', call);
  }

  @Post(':id/turns')
  @ApiCommand('Provides the next turn in place of the agent; a paused conversation stays paused.')
  @ApiProblem(400, 'The body is malformed.')
  injectTurn(@Param('id') id: string, @Body() { text }: TurnBody, @Call() call: ApiCall): Promise<ConversationId> {
    return this.sendCommand(id, 'inject', call, text);
  }

  private async sendCommand(id: string, kind: CommandKind, call: ApiCall, text?: string): Promise<ConversationId> {
    await this.conversations.addCommand(id, kind, call, text);
    return { conversationId: id };
  }
}

/**
 * Returns the decorators of a route that accepts a command with 202. The conversation executes the command before its
 * next turn.
 */
function ApiCommand(summary: string): MethodDecorator {
  return applyDecorators(
    HttpCode(202),
    ApiOperation({ summary }),
    ApiAcceptedResponse({ type: ConversationId }),
    ApiProblem(404, 'conversation not found'),
    ApiProblem(409, 'The conversation has ended.'),
    ApiLargeAnswer(),
  );
}
