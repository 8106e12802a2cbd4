import { type CallChains, CONVERSATIONS_PATH, type SaidText, SignedEntries } from '#libs/agents';
import {
  type AgentReferences,
  AgentTalks,
  type TalkOutcome,
  type TalkRequest,
  type TalkSource,
  type TalkWait,
} from '#libs/durable';
import { retryWhileDatabaseDown } from '#libs/postgres';
import {
  canonicalJson,
  dataPart,
  firstData,
  type JsonObject,
  type JsonValue,
  type Message,
  userMessage,
} from '#libs/protocol';
import type { TaskEvent, TaskFeed, TaskHeader, TaskScope } from '#libs/tasks';
import { limitedTexts } from './conversation-entry.js';
import { ConversationState, settingsIn } from './conversation-state.js';
import { finalOutcome } from './conversation-view.js';
import type { TalkOrigin, TurnFailure } from './conversation.js';
import { CREDENTIAL_UNUSABLE } from './turn-reply.js';

/**
 * URI of an extension. Under this key, the metadata of a Message that starts a conversation contain a signed TalkEntry.
 */
const TALK_ENTRY = 'urn:parley:extension:talk:v1';

/**
 * Origin of a request for a conversation: the Task and tool call that made the request, and the earlier texts of that
 * Task.
 */
export interface TalkEntry {
  origin: TalkOrigin;
  /** Texts of the agent's Task up to the call, oldest first. */
  before?: SaidText[];
  /** Number of older texts that are left out because of the size limit of the entry; absent: none. */
  omitted?: number;
  /** Revision of the requester's workflow; absent in entries of earlier versions. */
  revision?: string;
}

/**
 * Signs and reads the origins of conversations that agents start by a tool. The signature of an entry covers the data
 * of its request: an entry that was copied to another request is not valid.
 */
export class TalkEntries extends SignedEntries<TalkEntry> {
  protected override readonly extension = TALK_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    return canonicalJson(firstData(parts) ?? null);
  }
}

/** Services that TaskTalks uses. */
export interface TalkServices {
  references: Pick<AgentReferences, 'builtIn'>;
  chains: Pick<CallChains, 'signValues' | 'hasSigned'>;
  feed: Pick<TaskFeed, 'followTask'>;
  tasks: { readHeader(taskId: string): Promise<Pick<TaskHeader, 'lastSequence'> | undefined> };
}

/**
 * Builds requests for conversations that agents start by a tool, and reads the results from the logs of their Tasks.
 * Each conversation is a Task of the `conversations` agent.
 */
export class TaskTalks extends AgentTalks {
  private readonly entries: TalkEntries;

  constructor(private readonly services: TalkServices) {
    super();
    this.entries = new TalkEntries(services.chains);
  }

  override conversationTarget(): ReturnType<AgentTalks['conversationTarget']> {
    return this.services.references.builtIn(CONVERSATIONS_PATH);
  }

  override requestMessage({ credential, ...request }: TalkRequest, fields: Pick<Message, 'messageId'>): Message {
    const data: JsonObject = { ...request, ...(credential !== undefined && { auth: { target: credential } }) };
    return userMessage([dataPart(data)], fields);
  }

  override withSource(message: Message, { origin, before: texts, revision }: TalkSource, scope: TaskScope): Message {
    const { said: before, omitted } = limitedTexts(texts);
    const known = { ...(before && { before }), ...(omitted !== undefined && { omitted }) };
    return this.entries.attachEntry({ origin, ...known, ...(revision !== undefined && { revision }) }, message, scope);
  }

  override async awaitOutcome(conversationId: string, { wait, signal }: TalkWait): Promise<TalkOutcome> {
    const { feed, tasks } = this.services;
    let state: ConversationState | undefined;
    for (let last = 0; ;) {
      for await (const { event, sequence } of feed.followTask(conversationId, last, { until: 'waiting', signal })) {
        last = sequence;
        state ??= stateFrom(conversationId, event);
        state.apply(event);
        const result = talkResult(state, wait);
        if (result) return { result };
      }
      signal.throwIfAborted();
      const header = await retryWhileDatabaseDown(() => tasks.readHeader(conversationId), signal);
      if (!header || !state) return { error: 'the conversation is gone' };
      // The feed ends when the Task waits, and the wait may be over by now.
      if (header.lastSequence > last) continue;
      const asked = state.isAsking ? state.asked?.message : undefined;
      return { question: { state: state.taskState, ...(asked && { asked }) } };
    }
  }
}

function stateFrom(conversationId: string, first: TaskEvent): ConversationState {
  return new ConversationState(conversationId, settingsIn([first]), false);
}

/**
 * Returns the tool's result: with `wait` the outcome and all turns, else the first answer. `undefined` while the log
 * does not have it yet.
 */
function talkResult(state: ConversationState, wait: boolean): JsonObject | undefined {
  const { conversationId, dialogue } = state;
  const reply = dialogue.turns[1]?.text;
  if (!wait && reply !== undefined) return { conversationId, reply };
  const outcome = finalOutcome(state);
  if (outcome === undefined) return undefined;
  const { turns, error } = dialogue;
  const said = turns.map(({ turn, fromAgent, toAgent, text }): JsonObject => ({ turn, fromAgent, toAgent, text }));
  const failure = error && { turn: error.turn, code: error.code, message: textForModel(error) };
  return { conversationId, outcome, turns: said, ...(failure && { error: failure }) };
}

/** Returns the failure as the model that started the conversation reads it, without the name of a credential. */
function textForModel({ code, message }: TurnFailure): string {
  return code === CREDENTIAL_UNUSABLE ? 'the agent cannot be called now: its credential cannot be used' : message;
}
