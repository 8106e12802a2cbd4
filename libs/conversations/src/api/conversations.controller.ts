import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { apiCall, scopeOf } from '#libs/access';
import {
  ApiEventStream,
  ApiIdempotent,
  ApiPages,
  ApiProblem,
  malformed,
  refuseTooDeep,
  ServiceAddress,
} from '#libs/http';
import { IdempotencyKey, ProcessStreams } from '#libs/process';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CommandKind } from '../conversation-command.js';
import type { ConversationView } from '../conversation-view.js';
import { ConversationBody, TurnBody } from './conversation-body.js';
import { ConversationList, type ConversationPage, readConversationQuery, STATUSES } from './conversation-list.js';
import { CONVERSATION_ID_SCHEMA, CONVERSATION_PAGE_SCHEMA, CONVERSATION_SCHEMA } from './conversation-schemas.js';
import { Conversations } from './conversations.js';

interface ConversationId {
  conversationId: string;
}

/** Conversations of two agents. */
@ApiTags('conversations')
@Controller('api/conversations')
export class ConversationsController {
  constructor(
    private readonly conversations: Conversations,
    private readonly conversationList: ConversationList,
    private readonly streams: ProcessStreams,
    private readonly address: ServiceAddress,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a conversation and answers at once.' })
  @ApiBody({ type: ConversationBody })
  @ApiAcceptedResponse({ schema: CONVERSATION_ID_SCHEMA })
  @ApiIdempotent('conversation')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(422, 'A number is out of its range, or an agent is not known.')
  async start(
    @Body() body: unknown,
    @IdempotencyKey() key: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConversationId> {
    const conversationId = await this.conversations.start(objectOf(body), apiCall(request, this.address), key);
    void reply.header('location', `/api/conversations/${conversationId}`);
    return { conversationId };
  }

  @Get()
  @ApiPages('Conversations, the one that changed last first.', CONVERSATION_PAGE_SCHEMA)
  @ApiQuery({ name: 'status', required: false, enum: STATUSES })
  async list(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<ConversationPage> {
    return this.conversationList.page(readConversationQuery(query), scopeOf(request.raw));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One conversation with its turns.' })
  @ApiOkResponse({ schema: CONVERSATION_SCHEMA })
  @ApiProblem(404, 'conversation not found')
  async get(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ConversationView> {
    return this.conversations.show(id, scopeOf(request.raw));
  }

  @Get(':id/events')
  @ApiEventStream(
    "A conversation's events, from the first one or after a cursor, then live until it is complete.",
    '`a2a` with the phase `complete`',
  )
  @ApiProblem(404, 'conversation not found')
  async events(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.streams.answer(request, reply, () => this.conversations.events(id, scopeOf(request.raw)));
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a conversation at once, and the Task of the agent that is at work for it.' })
  @ApiOkResponse({ schema: CONVERSATION_SCHEMA })
  @ApiProblem(404, 'conversation not found')
  @ApiProblem(409, 'The conversation has ended otherwise.')
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ConversationView> {
    return this.conversations.cancel(id, apiCall(request, this.address));
  }

  @Post(':id/pause')
  @ApiCommand('Pauses a conversation after the turn that is under way.')
  async pause(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ConversationId> {
    return this.command(id, 'pause', request);
  }

  @Post(':id/resume')
  @ApiCommand('Goes on with a paused conversation.')
  async resume(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ConversationId> {
    return this.command(id, 'resume', request);
  }

  @Post(':id/stop')
  @ApiCommand('Completes a conversation after the turn that is under way; its outcome is `done`.')
  async stop(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ConversationId> {
    return this.command(id, 'stop', request);
  }

  @Post(':id/turns')
  @ApiBody({ type: TurnBody })
  @ApiCommand('Says the next turn in place of the agent whose turn it is; a paused conversation stays paused.')
  @ApiProblem(400, 'The body is malformed.')
  async inject(
    @Param('id') id: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<ConversationId> {
    const { text } = objectOf(body);
    if (typeof text !== 'string') throw malformed({ path: 'text', detail: 'must be a string' });
    if (text.trim() === '') throw malformed({ path: 'text', detail: 'must not be empty' });
    return this.command(id, 'inject', request, text);
  }

  private async command(
    id: string,
    kind: CommandKind,
    request: FastifyRequest,
    text?: string,
  ): Promise<ConversationId> {
    await this.conversations.command(id, kind, apiCall(request, this.address), text);
    return { conversationId: id };
  }
}

/** A command is accepted: it is carried out between two turns. */
function ApiCommand(summary: string): MethodDecorator {
  return applyDecorators(
    HttpCode(202),
    ApiOperation({ summary }),
    ApiAcceptedResponse({ schema: CONVERSATION_ID_SCHEMA }),
    ApiProblem(404, 'conversation not found'),
    ApiProblem(409, 'The conversation has ended.'),
  );
}

function objectOf(body: unknown): JsonObject {
  if (!isJsonObject(body)) throw malformed({ path: '', detail: 'the body must be a JSON object' });
  refuseTooDeep(body);
  return body;
}
