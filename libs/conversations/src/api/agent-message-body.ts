import { ApiProperty } from '@nestjs/swagger';
import { malformed } from '#libs/http';
import {
  InvalidProtocolValue,
  isIdentifier,
  isJsonObject,
  type JsonObject,
  type Message,
  readStreamResponse,
  LONGEST_URL,
  NO_ID,
  urlProblem,
} from '#libs/protocol';

const NO_URL = { path: 'url', detail: `must be an http or https URL of at most ${LONGEST_URL} characters` };

/** A Message for an agent that a browser cannot call itself. */
export class AgentMessageBody {
  /** What is no object has no URL. */
  static readonly exceptionFactory = (): Error => malformed(NO_URL);

  @ApiProperty({ description: "The agent's base URL, or its card's.", example: 'https://agents.example/critic' })
  url!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'A Message of A2A 1.0.',
    example: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
  })
  message!: Message;

  /** @throws ProblemError 400 naming the field */
  static from({ url, message }: JsonObject): AgentMessageBody {
    if (typeof url !== 'string' || url.length > LONGEST_URL || !/^https?:/i.test(url) || !URL.canParse(url)) {
      throw malformed(NO_URL);
    }
    const problem = urlProblem(url);
    if (problem !== undefined) throw malformed({ path: 'url', detail: problem });
    if (!isJsonObject(message)) throw malformed({ path: 'message', detail: 'must be a Message' });
    return Object.assign(new AgentMessageBody(), { url, message: readMessage(message) });
  }
}

function readMessage(json: object): Message {
  try {
    const read = readStreamResponse({ message: json });
    if ('message' in read && isWhole(read.message)) return withIds(read.message);
  } catch (error) {
    if (!(error instanceof InvalidProtocolValue)) throw error;
    throw malformed({ path: 'message', detail: error.message });
  }
  throw malformed({ path: 'message', detail: 'must have a messageId, the role ROLE_USER and a Part' });
}

/** An agent of this service is sent the Message as it is. @throws ProblemError 400 */
function withIds(message: Message): Message {
  const { messageId, contextId, taskId, referenceTaskIds = [] } = message;
  const ids = { messageId, contextId, taskId, ...Object.fromEntries(referenceTaskIds.map(referenced)) };
  const strange = Object.entries(ids).filter(([, id]) => id !== undefined && !isIdentifier(id));
  if (strange.length === 0) return message;
  throw malformed(...strange.map(([name]) => ({ path: `message.${name}`, detail: NO_ID })));
}

function referenced(id: string, place: number): [name: string, id: string] {
  return [`referenceTaskIds[${place}]`, id];
}

function isWhole({ messageId, role, parts }: Message): boolean {
  return messageId !== '' && role === 'ROLE_USER' && parts.length > 0;
}
