import { Module } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Database, serviceSecret } from '#libs/postgres';
import {
  A2AError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SendMessageRequest,
  withoutTrailing,
} from '#libs/protocol';

/** URI of the extension, and metadata key, under which Messages carry the calls that led to them. */
export const CALL_CHAIN = 'urn:parley:extension:hop-chain:v1';

/** Path of the agent whose Tasks are conversations. */
export const CONVERSATIONS_PATH = 'conversations';

/** A call: caller and called agent. The service that made the call signs it; no other service can forge it. */
export interface ChainLink {
  /** Outermost Task of this service that led to the call. */
  root: string;
  /** Calling Task, and the path of its agent. */
  task: string;
  caller: string;
  /** Called agent: its URL without a trailing slash, or the path of one of the service's own agents. */
  callee: string;
  signature: string;
}

/** Maximum depth of calls. Deeper chains are treated as a loop. */
const DEEPEST = 32;
const CARD = /(?<!\/)\/((\.well-known\/)?agent-card(\.json)?|\.well-known\/agent\.json)$/;

/**
 * Returns the links that a request names in the metadata of its Message or its own, outermost first. Signatures are not
 * checked.
 */
export function chainOf({ message, metadata }: Pick<SendMessageRequest, 'message' | 'metadata'>): ChainLink[] {
  return readChain(message.metadata?.[CALL_CHAIN] ?? metadata?.[CALL_CHAIN]);
}

/** Returns the links that a Task keeps of the request that made it. */
export function keptChain(metadata: JsonObject | undefined): ChainLink[] {
  return readChain(metadata?.[CALL_CHAIN]);
}

/** Returns metadata with the links; empty if there are none. */
export function chainMetadata(links: readonly ChainLink[]): JsonObject {
  return links.length === 0 ? {} : { [CALL_CHAIN]: links.map((link) => ({ ...link })) };
}

/** Returns an agent's URL as links name it: without the card's path and without a trailing slash. */
export function calledAgentOf(url: string): string {
  return withoutTrailing(url.replace(CARD, ''), '/');
}

/**
 * Signs and checks links (ADR 10). A service trusts only its own links and passes others on unchanged, so a chain
 * crosses any number of services. A caller that forges links can block only itself.
 */
export class CallChains {
  constructor(private readonly secret: Buffer) {}

  /** Returns the chain with one more call, for the Message that makes the call. */
  extendChain(links: readonly ChainLink[], call: Omit<ChainLink, 'root' | 'signature'>): ChainLink[] {
    const root = this.rootOf(links) ?? call.task;
    const link = { root, task: call.task, caller: call.caller, callee: calledAgentOf(call.callee) };
    return [...links, { ...link, signature: this.signValues(CALL_CHAIN, signedValues(link)) }];
  }

  /**
   * Returns the outermost Task of this service that led to a call, and the number of calls in between. A caller that
   * forges links can only place itself below a Task that one of its own chains has named.
   */
  findPlace(links: readonly ChainLink[]): { root: string | undefined; depth: number } {
    const root = this.rootOf(links);
    return { root, depth: root === undefined ? 0 : links.filter((link) => link.root === root).length };
  }

  /** Returns the outermost Task of this service that led to a call; `undefined` if there is none. */
  rootOf(links: readonly ChainLink[]): string | undefined {
    return links.find((link) => this.isOwn(link))?.root;
  }

  /** Returns the calls of this service among the links: the caller and the called agent of each. */
  ownCalls(links: readonly ChainLink[]): { caller: string; called: string }[] {
    return links.filter((link) => this.isOwn(link)).map(({ caller, callee: called }) => ({ caller, called }));
  }

  /**
   * Rejects a Message to an agent that is working on a Task which led to it. Exception: a conversation that the agent
   * itself holds through a tool.
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
   * Rejects a call of an agent that was already called in the chain. Exception: a conversation may call the agent that
   * holds it through a tool.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `LOOP_DETECTED`
   */
  refuseCall(callee: string, links: readonly ChainLink[]): void {
    refuseDepth(links);
    if (this.isTalkOf(callee, links.at(-1))) return;
    const ancestor = links.find((link) => link.callee === calledAgentOf(callee) && this.isOwn(link));
    if (ancestor)
      throw loopDetected(`${ancestor.callee} was called for ${ancestor.task}, which led to this call of it`);
  }

  /** Returns this service's signature of values; `purpose` is the extension that they belong to. */
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

  /** True if the link is the call with which an agent started a conversation of its own. */
  private isTalkOf(agent: string, link: ChainLink | undefined): boolean {
    return link?.caller === agent && link.callee === CONVERSATIONS_PATH && this.isOwn(link);
  }

  private isOwn(link: ChainLink): boolean {
    return this.hasSigned(CALL_CHAIN, signedValues(link), link.signature);
  }
}

function signedValues({ root, task, caller, callee }: Omit<ChainLink, 'signature'>): string[] {
  return [root, task, caller, callee];
}

function refuseDepth(links: readonly ChainLink[]): void {
  if (links.length >= DEEPEST) throw loopDetected(`${links.length} calls led to this one`);
}

function loopDetected(what: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', { message: `LOOP_DETECTED: ${what}`, detailReason: 'LOOP_DETECTED' });
}

/** Reads links; skips values that are not links. */
function readChain(value: JsonValue | undefined): ChainLink[] {
  return Array.isArray(value) ? value.map(readLink).filter((link) => link !== undefined) : [];
}

function readLink(value: JsonValue): ChainLink | undefined {
  if (!isJsonObject(value)) return undefined;
  const { root, task, caller, callee, signature } = value;
  const texts = [root, task, caller, callee, signature];
  return texts.every((it) => typeof it === 'string')
    ? ({ root, task, caller, callee, signature } as unknown as ChainLink)
    : undefined;
}

/** CallChains with the secret that all replicas share. Needs PostgresModule. */
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

/** Budgets of calls that agents make on their own, one for each outermost Task. */
export abstract class CallBudgets {
  /**
   * Counts one call.
   * @param root id of the outermost Task that led to the call
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  abstract spendCall(root: string): Promise<void>;
}
