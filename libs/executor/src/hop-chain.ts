import { createHmac, timingSafeEqual } from 'node:crypto';
import { A2AError, isJsonObject, type JsonObject, type JsonValue, type SendMessageRequest } from '#libs/protocol';
import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';

/** The extension, and the metadata key, under which Messages carry the calls that led to them. */
export const HOP_CHAIN = 'urn:parley:extension:hop-chain:v1';

/** One call: who called whom. It is signed by the service that made it; no other can make it. */
export interface Hop {
  /** The outermost Task of this service that led to the call. */
  root: string;
  /** The calling Task, and the path of its agent. */
  task: string;
  caller: string;
  /** The agent that was called: its URL without a slash at the end, or the path of one of the service's own. */
  callee: string;
  signature: string;
}

/** Calls within calls that are taken for sense; more are taken for a loop. */
const DEEPEST = 32;
const CARD = /(?<!\/)\/((\.well-known\/)?agent-card(\.json)?|\.well-known\/agent\.json)$/;

/** The hops that a request names, in the Message's metadata or its own, whoever signed them; outermost first. */
export function hopsOf({ message, metadata }: Pick<SendMessageRequest, 'message' | 'metadata'>): Hop[] {
  return readHops(message.metadata?.[HOP_CHAIN] ?? metadata?.[HOP_CHAIN]);
}

/** The hops that a Task keeps of the request that made it. */
export function keptHops(metadata: JsonObject | undefined): Hop[] {
  return readHops(metadata?.[HOP_CHAIN]);
}

/** Metadata with the hops, or none where there are none. */
export function hopMetadata(hops: readonly Hop[]): JsonObject {
  return hops.length === 0 ? {} : { [HOP_CHAIN]: hops.map((hop) => ({ ...hop })) };
}

/** An agent's URL as hops name it. */
export function calleeOf(url: string): string {
  return url.replace(CARD, '').replace(/\/+$/, '');
}

/**
 * Signs and checks hops (ADR 10). A service believes only its own hops and passes the others on untouched, so a chain goes
 * through any number of services; whoever forges one can stop nobody but itself.
 */
export class HopChains {
  constructor(private readonly secret: Buffer) {}

  /** The chain with one more call, for the Message that makes it. */
  extended(hops: readonly Hop[], call: Omit<Hop, 'root' | 'signature'>): Hop[] {
    const root = this.rootOf(hops) ?? call.task;
    const hop = { root, task: call.task, caller: call.caller, callee: calleeOf(call.callee) };
    return [...hops, { ...hop, signature: this.sign(hop) }];
  }

  /** The outermost Task of this service that led to a call; `undefined` where none did. */
  rootOf(hops: readonly Hop[]): string | undefined {
    return hops.find((hop) => this.isOwn(hop))?.root;
  }

  /**
   * Refuses a Message to an agent that is at work on what led to it.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `LOOP_DETECTED`
   */
  refuseReentry(agent: string, hops: readonly Hop[]): void {
    refuseDepth(hops);
    const ancestor = hops.find((hop) => hop.caller === agent && this.isOwn(hop));
    if (ancestor) throw loop(`"${agent}" is already at work on ${ancestor.task}, which led to this call`);
  }

  /**
   * Refuses to call an agent that was called already on the way here.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `LOOP_DETECTED`
   */
  refuseCall(callee: string, hops: readonly Hop[]): void {
    refuseDepth(hops);
    const ancestor = hops.find((hop) => hop.callee === calleeOf(callee) && this.isOwn(hop));
    if (ancestor) throw loop(`${ancestor.callee} was called for ${ancestor.task}, which led to this call of it`);
  }

  private isOwn(hop: Hop): boolean {
    const [given, expected] = [Buffer.from(hop.signature), Buffer.from(this.sign(hop))];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private sign({ root, task, caller, callee }: Omit<Hop, 'signature'>): string {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([HOP_CHAIN, root, task, caller, callee]))
      .digest('base64url');
  }
}

function refuseDepth(hops: readonly Hop[]): void {
  if (hops.length >= DEEPEST) throw loop(`${hops.length} calls led to this one`);
}

function loop(what: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', { message: `LOOP_DETECTED: ${what}`, detailReason: 'LOOP_DETECTED' });
}

/** Whatever is no hop counts as none. */
function readHops(value: JsonValue | undefined): Hop[] {
  return Array.isArray(value) ? value.map(readHop).filter((hop) => hop !== undefined) : [];
}

function readHop(value: JsonValue): Hop | undefined {
  if (!isJsonObject(value)) return undefined;
  const { root, task, caller, callee, signature } = value;
  const texts = [root, task, caller, callee, signature];
  return texts.every((it) => typeof it === 'string')
    ? ({ root, task, caller, callee, signature } as unknown as Hop)
    : undefined;
}

/** HopChains with the secret that all replicas share. Needs PostgresModule. */
@Module({
  providers: [
    {
      provide: HopChains,
      inject: [Database],
      useFactory: async (database: Database) => new HopChains(await serviceSecret(database, 'hop-chain')),
    },
  ],
  exports: [HopChains],
})
export class HopChainModule {}
