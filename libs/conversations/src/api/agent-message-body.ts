import { ApiProperty } from '@nestjs/swagger';
import { malformedRequest, type ProblemEntry } from '#libs/http';
import {
  InvalidProtocolValue,
  isIdentifier,
  type JsonObject,
  type Message,
  readStreamResponse,
  LONGEST_URL,
  NO_ID,
  urlProblem,
} from '#libs/protocol';
import { IsObject, ValidateBy } from 'class-validator';

const NO_URL = `must be an http or https URL of at most ${LONGEST_URL} characters`;

/** Message to an agent that a browser cannot call itself. */
export class AgentMessageBody {
  /** Creates the error of a malformed body; a body that is not an object lacks the URL. */
  static readonly exceptionFactory = (entries: ProblemEntry[]): Error =>
    malformedRequest(...entries.map((it) => (it.path === '' ? { path: 'url', detail: NO_URL } : it)));

  @ApiProperty({
    maxLength: LONGEST_URL,
    description: "The agent's base URL, or its card's.",
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

  /** Message to the agent. @throws ProblemError 400 if it is not a Message of A2A 1.0 */
  get received(): Message {
    return readMessage(this.message);
  }
}

/** Decorator: a URL at which an agent may be called. */
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

/** Checks the identifiers of a Message, which an agent of this service receives unchanged. @throws ProblemError 400 */
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
