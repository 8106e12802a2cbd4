import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsObject, ValidateBy } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { AgentDirectory } from '#libs/a2a-client';
import { Scope } from '#libs/access';
import { AgentCall } from '#libs/durable';
import {
  ApiClosed,
  ApiProblem,
  createProblem,
  malformedRequest,
  type ProblemEntry,
  sendEvents,
  type SseFrame,
} from '#libs/http-server';
import {
  InvalidProtocolValue,
  isIdentifier,
  type JsonObject,
  LONGEST_URL,
  type Message,
  NO_ID,
  readStreamResponse,
  urlProblem,
} from '#libs/protocol';
import { Shutdown } from '#libs/service';
import type { TaskScope } from '#libs/tasks';

const NO_URL = `must be an http or https URL of at most ${LONGEST_URL} characters`;

/** Body of a request to send a Message to a remote agent. A browser cannot call such an agent itself. */
@ApiClosed()
class AgentMessageBody {
  static readonly unknown = 'is not a member of this request';

  /** Creates the error of a malformed body. For a body that is not an object, the error names the field `url`. */
  static readonly exceptionFactory = (entries: ProblemEntry[]): Error =>
    malformedRequest(...entries.map((it) => (it.path === '' ? { path: 'url', detail: NO_URL } : it)));

  @ApiProperty({
    maxLength: LONGEST_URL,
    description: 'Base URL of the agent, or the URL of its card.',
    example: 'https://agents.example/critic',
  })
  @AgentUrl()
  url!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'A Message of A2A 1.0.',
    example: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
  })
  @IsObject({ message: 'must be a Message' })
  message!: JsonObject;

  /** Message of the body. @throws ProblemError 400 if it is not a Message of A2A 1.0 */
  get received(): Message {
    return readMessage(this.message);
  }
}

/** Returns a decorator that requires the URL of an agent. */
function AgentUrl(): PropertyDecorator {
  const isAgentUrl = (value: unknown): boolean => urlFault(value) === undefined;
  return ValidateBy(
    { name: 'agentUrl', validator: { validate: isAgentUrl } },
    { message: ({ value }) => urlFault(value) ?? '' },
  );
}

function urlFault(url: unknown): string | undefined {
  const isUrl = typeof url === 'string' && url.length <= LONGEST_URL && /^https?:/i.test(url) && URL.canParse(url);
  return isUrl ? urlProblem(url) : NO_URL;
}

function readMessage(json: JsonObject): Message {
  try {
    const read = readStreamResponse({ message: json });
    if ('message' in read && isWhole(read.message)) return withIds(read.message);
  } catch (error) {
    if (!(error instanceof InvalidProtocolValue)) throw error;
    throw malformedRequest({ path: 'message', detail: error.message });
  }
  throw malformedRequest({ path: 'message', detail: 'must have a messageId, the role ROLE_USER and a Part' });
}

/**
 * Returns a Message if its identifiers are valid. The check is needed because an agent of this service receives the
 * Message unchanged.
 * @throws ProblemError 400
 */
function withIds(message: Message): Message {
  const { messageId, contextId, taskId, referenceTaskIds = [] } = message;
  const ids = { messageId, contextId, taskId, ...Object.fromEntries(referenceTaskIds.map(nameReference)) };
  const strange = Object.entries(ids).filter(([, id]) => id !== undefined && !isIdentifier(id));
  if (strange.length === 0) return message;
  throw malformedRequest(...strange.map(([name]) => ({ path: `message.${name}`, detail: NO_ID })));
}

function nameReference(id: string, place: number): [name: string, id: string] {
  return [`referenceTaskIds[${place}]`, id];
}

function isWhole({ messageId, role, parts }: Message): boolean {
  return messageId !== '' && role === 'ROLE_USER' && parts.length > 0;
}

const EVENT = 'data: {"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}}\n\n';

/**
 * Sends a person's Message to a remote agent. A browser cannot call such an agent itself: browsers forbid most calls
 * to other origins, and only this service knows which addresses may be called. Nothing is stored: the Task exists at
 * the agent alone, and continues if the person disconnects.
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
    summary: 'Sends a Message to the agent at a URL and streams its answer in the form of A2A 1.0.',
    description:
      'Each event is a StreamResponse. A call that fails ends the stream with an event `error`, a problem as JSON. ' +
      'For longer work, start a conversation or a workflow.',
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

/**
 * Yields the responses of an agent, then an `error` event if the call failed. A Task in a failed state is a response,
 * not a failed call.
 */
async function* answerFrames(call: AgentCall): AsyncGenerator<SseFrame> {
  for await (const { response } of call.runCall()) yield { data: JSON.stringify(response) };
  const { outcome } = call;
  if (outcome.kind !== 'failed' || outcome.failure.state !== undefined) return;
  const { kind, message, cause } = outcome.failure;
  if (kind === 'internal') throw cause;
  yield { event: 'error', data: JSON.stringify(createProblem(502, message)) };
}
