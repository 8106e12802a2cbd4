import { createHmac, timingSafeEqual } from 'node:crypto';
import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import {
  A2AError,
  canonicalJson,
  firstData,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type SendMessageRequest,
  withoutTrailing,
} from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** URI of the extension, and metadata key, under which Messages carry the call chain: the calls that led to them. */
export const CALL_CHAIN = 'urn:parley:extension:hop-chain:v1';

/** Path of the agent whose Tasks are conversations. */
export const CONVERSATIONS_PATH = 'conversations';

/**
 * Link of a call chain: one call, with its caller and the called agent. The service that made the call signs the
 * link, so no other service can forge it.
 */
export interface ChainLink {
  /** Id of the outermost Task of this service that led to the call. */
  root: string;
  /** Id of the calling Task. */
  task: string;
  caller: string;
  /** Called agent: its URL without a trailing slash, or the path of a local agent. */
  callee: string;
  signature: string;
  /** Signature that says that the calling Task has a budget, which limits the call too; absent: it has none. */
  budget?: string;
}

/** Minimum number of links at which a chain counts as a loop. */
const DEEPEST = 32;
const CARD = /(?<!\/)\/((\.well-known\/)?agent-card(\.json)?|\.well-known\/agent\.json)$/;

/**
 * Returns the links of a request, outermost first, from the metadata of its Message or, if absent there, of the
 * request. Signatures are not checked.
 */
export function chainOf({ message, metadata }: Pick<SendMessageRequest, 'message' | 'metadata'>): ChainLink[] {
  return readChain(message.metadata?.[CALL_CHAIN] ?? metadata?.[CALL_CHAIN]);
}

/** Returns the links of the request that created a Task, as the Task's metadata stores them. */
export function keptChain(metadata: JsonObject | undefined): ChainLink[] {
  return readChain(metadata?.[CALL_CHAIN]);
}

/** Returns metadata that contains the links; empty if there are none. */
export function chainMetadata(links: readonly ChainLink[]): JsonObject {
  return links.length === 0 ? {} : { [CALL_CHAIN]: links.map((link) => ({ ...link })) };
}

/** Returns an agent's URL as links name it: without the path of a card and without a trailing slash. */
export function calledAgentOf(url: string): string {
  return withoutTrailing(url.replace(CARD, ''), '/');
}

/**
 * Signs and checks the links of call chains (ADR 10), to detect loops. A service trusts only links that it signed
 * itself, and passes links of other services on unchanged, so a chain can cross any number of services. A caller that
 * sends forged links can only get its own calls rejected.
 */
export class CallChains {
  constructor(private readonly secret: Buffer) {}

  /**
   * Returns the chain with one more link, for the Message of a call.
   * @param links chain of the request that the calling Task serves
   * @param hasBudget true if the calling Task has a budget
   */
  extendChain(
    links: readonly ChainLink[],
    call: Pick<ChainLink, 'task' | 'caller' | 'callee'>,
    hasBudget = false,
  ): ChainLink[] {
    const root = this.rootOf(links) ?? call.task;
    const link = { root, task: call.task, caller: call.caller, callee: calledAgentOf(call.callee) };
    const signature = this.signValues(CALL_CHAIN, signedValues(link));
    const budget = hasBudget && { budget: this.signValues(CALL_CHAIN, budgetValues(link)) };
    return [...links, { ...link, signature, ...budget }];
  }

  /** Returns the ids of the Tasks whose budgets limit what a call leads to, outermost first. */
  budgetsOf(links: readonly ChainLink[]): string[] {
    const found = links.flatMap((link) => {
      const { budget, task } = link;
      return budget !== undefined && this.hasSigned(CALL_CHAIN, budgetValues(link), budget) ? [task] : [];
    });
    return [...new Set(found)];
  }

  /**
   * Returns the outermost Task of this service that led to a call (`root`), and the number of links of the chain with
   * this `root` (`depth`); `undefined` and 0 if there is no such Task. A caller cannot forge a `root`: it can only
   * repeat one from a chain that it received.
   */
  findPlace(links: readonly ChainLink[]): { root: string | undefined; depth: number } {
    const root = this.rootOf(links);
    return { root, depth: root === undefined ? 0 : links.filter((link) => link.root === root).length };
  }

  /** Returns the outermost Task of this service that led to a call; `undefined` if there is none. */
  rootOf(links: readonly ChainLink[]): string | undefined {
    return links.find((link) => this.isOwn(link))?.root;
  }

  /** Returns the caller and the called agent of each link that this service signed. */
  ownCalls(links: readonly ChainLink[]): { caller: string; called: string }[] {
    return links.filter((link) => this.isOwn(link)).map(({ caller, callee: called }) => ({ caller, called }));
  }

  /**
   * Rejects a Message to an agent if one of the Tasks that led to the Message is a Task of the same agent, or the
   * chain is too long (DEEPEST). Exception: a turn of a conversation that the agent itself started by a tool.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `LOOP_DETECTED`
   */
  refuseReentry(agent: string, links: readonly ChainLink[]): void {
    refuseDepth(links);
    const last = links.at(-1);
    const isTurn = last?.caller === CONVERSATIONS_PATH && last.callee === agent && this.isOwn(last);
    if (isTurn && this.isTalkOf(agent, links.at(-2))) return;
    const ancestor = links.find((link) => link.caller === agent && this.isOwn(link));
    if (ancestor) throw loopDetected(`"${agent}" is already at work on ${ancestor.task}, which led to this call`);
  }

  /**
   * Rejects a call of an agent that the chain already contains, and any call if the chain is too long (DEEPEST).
   * Exception: a conversation may call the agent that started it by a tool.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `LOOP_DETECTED`
   */
  refuseCall(callee: string, links: readonly ChainLink[]): void {
    refuseDepth(links);
    if (this.isTalkOf(callee, links.at(-1))) return;
    const ancestor = links.find((link) => link.callee === calledAgentOf(callee) && this.isOwn(link));
    if (ancestor)
      throw loopDetected(`${ancestor.callee} was called for ${ancestor.task}, which led to this call of it`);
  }

  /** Returns this service's signature of values. `purpose` is the URI of the extension that contains the values. */
  signValues(purpose: string, values: readonly JsonValue[]): string {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([purpose, ...values]))
      .digest('base64url');
  }

  /** True if this service signed the same values for the same purpose. */
  hasSigned(purpose: string, values: readonly JsonValue[], signature: string): boolean {
    const [given, expected] = [Buffer.from(signature), Buffer.from(this.signValues(purpose, values))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  /** True if the given agent started a conversation with the call of this link. */
  private isTalkOf(agent: string, link: ChainLink | undefined): boolean {
    return link?.caller === agent && link.callee === CONVERSATIONS_PATH && this.isOwn(link);
  }

  private isOwn(link: ChainLink): boolean {
    return this.hasSigned(CALL_CHAIN, signedValues(link), link.signature);
  }
}

/** Module of CallChains with the secret that all replicas share. Needs PostgresModule. */
@Module({
  providers: [
    {
      provide: CallChains,
      inject: [Database],
      useFactory: async (database: Database) => new CallChains(await serviceSecret(database, 'hop-chain')),
    },
  ],
  exports: [CallChains],
})
export class CallChainModule {}

function signedValues({ root, task, caller, callee }: Omit<ChainLink, 'signature' | 'budget'>): string[] {
  return [root, task, caller, callee];
}

function budgetValues({ root, task }: Pick<ChainLink, 'root' | 'task'>): string[] {
  return [root, task, 'budget'];
}

function refuseDepth(links: readonly ChainLink[]): void {
  if (links.length >= DEEPEST) throw loopDetected(`${links.length} calls led to this one`);
}

function loopDetected(what: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', { message: `LOOP_DETECTED: ${what}`, detailReason: 'LOOP_DETECTED' });
}

/** Reads links from metadata, and skips values that are not links. */
function readChain(value: JsonValue | undefined): ChainLink[] {
  return Array.isArray(value) ? value.map(readLink).filter((link) => link !== undefined) : [];
}

function readLink(value: JsonValue): ChainLink | undefined {
  if (!isJsonObject(value)) return undefined;
  const { root, task, caller, callee, signature, budget } = value;
  const texts = [root, task, caller, callee, signature];
  if (!texts.every((it) => typeof it === 'string')) return undefined;
  const link = { root, task, caller, callee, signature, ...(typeof budget === 'string' && { budget }) };
  return link as unknown as ChainLink;
}

/**
 * Counts the calls to other agents that models request by their tools. All Tasks below one outermost Task share a
 * limit.
 */
export abstract class CallBudgets {
  /**
   * Counts one call against the budget.
   * @param root id of the outermost Task that led to the call
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  abstract spendCall(root: string): Promise<void>;
}

/**
 * Signs and reads entries: an entry is metadata that this service adds to a Message under the URI of an extension
 * (ADR 10).
 *
 * - An entry counts only for the Message and the owner that it was signed for, at every replica.
 * - An entry without a valid signature is metadata like any other.
 */
export abstract class SignedEntries<Entry extends object> {
  /** URI of the extension, and metadata key, of the entries. */
  protected abstract readonly extension: string;

  constructor(private readonly chains: Pick<CallChains, 'signValues' | 'hasSigned'>) {}

  /**
   * Returns the content of a Message that the signature of its entry covers. Other content may be re-encoded on the
   * way.
   */
  protected abstract boundContent(message: Message): JsonValue;

  /** Returns the Message with a signed entry in its metadata. */
  attachEntry(entry: Entry, message: Message, scope: TaskScope): Message {
    const { extension } = this;
    const signature = this.chains.signValues(extension, this.signedValues(entry, message, scope));
    const metadata = { ...message.metadata, [extension]: { ...entry, signature } as unknown as JsonObject };
    return { ...message, extensions: [...(message.extensions ?? []), extension], metadata };
  }

  /**
   * Returns the entry that this service signed for the Message and its owner; `undefined` if there is no valid entry.
   */
  readEntry(message: Message, scope: TaskScope): Entry | undefined {
    const value = message.metadata?.[this.extension];
    if (!isJsonObject(value)) return undefined;
    const { signature, ...entry } = value;
    if (typeof signature !== 'string') return undefined;
    const values = this.signedValues(entry, message, scope);
    return this.chains.hasSigned(this.extension, values, signature) ? (entry as unknown as Entry) : undefined;
  }

  private signedValues(entry: Entry | JsonObject, message: Message, { tenant, owner }: TaskScope): JsonValue[] {
    const content = this.boundContent(message);
    return [tenant, owner, message.messageId, content, canonicalJson(entry as unknown as JsonValue)];
  }
}

/** Returns the Message without the entry of an extension. */
export function withoutExtension(message: Message, extension: string): Message {
  const { [extension]: entry, ...metadata } = message.metadata ?? {};
  if (entry === undefined) return message;
  const { extensions = [], metadata: _metadata, ...rest } = message;
  const others = extensions.filter((uri) => uri !== extension);
  return {
    ...rest,
    ...(others.length > 0 && { extensions: others }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/**
 * URI of the extension, and metadata key, under which a Message carries a ConversationEntry: the step of the
 * conversation for which the Message was sent.
 */
export const CONVERSATION_ENTRY = 'urn:parley:extension:conversation:v1';

/** Text of a conversation that the addressed agent has neither received nor sent as a Message. */
export interface SaidText {
  /** Speaker. `self`: the addressed agent; `peer`: any other. */
  by: 'self' | 'peer';
  /** Name of the agent that said the text; absent if only one agent is possible. */
  agent?: string;
  text: string;
}

/**
 * Data that a conversation sends to an agent of this service in the metadata of a Message. The addressed agent is one
 * of the two sides or the announcer (the agent that is called at the end).
 */
export interface ConversationEntry {
  /** Prompt for this turn, or for the announcement; meant as system text for the agent's model. */
  instructions: string;
  role: 'requester' | 'target' | 'announcer';
  /** Name of the addressed agent. */
  self: string;
  /** Name of the agent on the other side of the conversation; absent if the announcer is addressed. */
  peer?: string;
  /** Number of the requested turn, from 1; absent if the announcer is addressed. */
  turn?: number;
  /** Number of turns that may follow the first answer; absent if the announcer is addressed. */
  maxTurns?: number;
  /**
   * Name of the requester. Present only if the announcer is addressed, like the next members: the name of the target
   * and the outcome of the conversation.
   */
  requester?: string;
  target?: string;
  outcome?: string;
  /** Text that skips the agent's turn: the agent's answer must be exactly this text. */
  skip: string;
  /**
   * Texts that the addressed agent has neither received nor sent as a Message, oldest first; for the announcer the
   * whole transcript; absent if there are none.
   */
  said?: SaidText[];
  /** Number of older texts that `said` omits because of its size limit; absent: none. */
  omitted?: number;
}

/** Signs and reads the entries of conversations. The signature of an entry covers the texts of its Message. */
export class ConversationEntries extends SignedEntries<ConversationEntry> {
  protected override readonly extension = CONVERSATION_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    return parts.map(({ text }) => text ?? null);
  }

  /** Returns the metadata in which a Task keeps the entry of its first Message; empty without a valid entry. */
  entryMetadata(message: Message, scope: TaskScope): JsonObject {
    const entry = this.readEntry(message, scope);
    return entry ? { [CONVERSATION_ENTRY]: { ...entry } as unknown as JsonObject } : {};
  }
}

/**
 * Returns the entry of the Message that created a Task, as the Task's metadata stores it; `undefined` if there is none.
 */
export function keptEntry(metadata: JsonObject | undefined): ConversationEntry | undefined {
  const entry = metadata?.[CONVERSATION_ENTRY];
  return isJsonObject(entry) ? (entry as unknown as ConversationEntry) : undefined;
}

/**
 * URI of the extension, and metadata key. In a Message it marks the request of a brainstorm for a new state. In the
 * Artifact of the answer it describes how the agent produced that state.
 */
export const BRAINSTORM_ENTRY = 'urn:parley:extension:brainstorm:v1';

/** Data that a brainstorm sends to an agent of this service besides the data Part of a Message. */
export interface BrainstormEntry {
  /** Path of the addressed agent. The entry is invalid for any other agent. */
  agent: string;
  /** JSON Schema (draft 7) of the state that a model must return. The prompt of the Message describes it in words. */
  output: JsonObject;
  /** JSON Schema of every answer that the brainstorm accepts as a state. */
  accepts: JsonObject;
  /**
   * Names of stored credentials. The first one that may be sent to a model's endpoint replaces the model's own
   * credential; absent: the model's own is used.
   */
  credentials?: readonly string[];
}

/** Signs and reads the entries of brainstorms. The signature of an entry covers the `systemPrompt` of its Message. */
export class BrainstormEntries extends SignedEntries<BrainstormEntry> {
  protected override readonly extension = BRAINSTORM_ENTRY;

  protected override boundContent({ parts }: Message): JsonValue {
    const data = firstData(parts);
    return isJsonObject(data) ? (data.systemPrompt ?? null) : null;
  }
}
