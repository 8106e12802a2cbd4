import { AgentTalks, type TalkOutcome, type TalkRequest, type TalkSource, type TalkWait } from '#libs/durable';
import { dataPart, type JsonObject, type Message, userMessage } from '#libs/protocol';

/** Conversations whose outcomes a test decides. The target of each call is the agent `conversations`. */
export class FakeTalks extends AgentTalks {
  /** Sources of requests, by messageId. */
  readonly sources = new Map<string, TalkSource>();
  /** Records of the waits for conversations: `conversation-1 to its end`, or `conversation-1 to its first answer`. */
  readonly awaited: string[] = [];
  private readonly begun = Promise.withResolvers<void>();

  /** @param outcomeOf returns the outcome of the nth wait, from 0; if it returns `undefined`, the wait never ends */
  constructor(private readonly outcomeOf: (conversationId: string, nth: number) => TalkOutcome | undefined) {
    super();
  }

  /** Resolves when the caller waits for a conversation that never ends. */
  get hanging(): Promise<void> {
    return this.begun.promise;
  }

  override conversationTarget(): ReturnType<AgentTalks['conversationTarget']> {
    return { own: true, findTarget: () => ({ url: 'conversations', calledAgent: 'conversations' }) };
  }

  override requestMessage(request: TalkRequest, fields: Pick<Message, 'messageId'>): Message {
    return userMessage([dataPart({ ...request } satisfies JsonObject)], fields);
  }

  override withSource(message: Message, source: TalkSource): Message {
    this.sources.set(message.messageId, source);
    return message;
  }

  override async awaitOutcome(conversationId: string, { wait, signal }: TalkWait): Promise<TalkOutcome> {
    const outcome = this.outcomeOf(conversationId, this.awaited.length);
    this.awaited.push(`${conversationId} to its ${wait ? 'end' : 'first answer'}`);
    if (outcome) return outcome;
    this.begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    throw signal.reason;
  }
}
