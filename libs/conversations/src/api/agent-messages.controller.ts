import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AgentDirectory } from '#libs/a2a-client';
import { AgentCall } from '#libs/agent-calls';
import { Scope } from '#libs/access';
import { ApiProblem, createProblem, sendEvents, type SseFrame } from '#libs/http';
import type { Message } from '#libs/protocol';
import { Shutdown } from '#libs/service';
import type { TaskScope } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { AgentMessageBody } from './agent-message-body.js';

const EVENT = 'data: {"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}}\n\n';

/**
 * Sends a person's Message to an agent elsewhere. A browser cannot: other origins forbid it, and only this service
 * knows which addresses may be called. Nothing is stored: the agent owns the Task, and continues if the reader leaves.
 */
@ApiTags('agents')
@Controller('api/agent-messages')
export class AgentMessagesController {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly shutdown: Shutdown,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Sends a Message to the agent at a URL and streams what it answers, in the form of A2A 1.0.',
    description:
      'Each event is a StreamResponse. A call that fails ends the stream with an event `error`, a problem as JSON. ' +
      'What is to last is started as a conversation or a workflow.',
  })
  @ApiOkResponse({ content: { 'text/event-stream': { schema: { type: 'string' }, example: EVENT } } })
  @ApiProblem(400, 'The URL or the Message is malformed.')
  async sendAgentMessage(
    @Body() wanted: AgentMessageBody,
    @Scope() scope: TaskScope,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { url, received: message } = wanted;
    await sendEvents(reply, this.shutdown, (signal) => this.streamAnswer({ url, message }, scope, signal));
  }

  private async *streamAnswer(
    { url, message }: { url: string; message: Message },
    scope: TaskScope,
    signal: AbortSignal,
  ): AsyncGenerator<SseFrame> {
    const call = new AgentCall(this.agents, {
      identity: { scope },
      signal,
      request: { message },
      findTarget: () => ({ url }),
      timeouts: { refused: 0 },
    });
    try {
      yield* answerFrames(call);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Yields the responses of an agent, and an error event if the call failed rather than the agent. */
async function* answerFrames(call: AgentCall): AsyncGenerator<SseFrame> {
  for await (const { response } of call.runCall()) yield { data: JSON.stringify(response) };
  const { outcome } = call;
  if (outcome.kind !== 'failed' || outcome.failure.state !== undefined) return;
  const { kind, message, cause } = outcome.failure;
  if (kind === 'internal') throw cause;
  yield { event: 'error', data: JSON.stringify(createProblem(502, message)) };
}
