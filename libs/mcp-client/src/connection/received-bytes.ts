import { AgentCallError } from '#libs/a2a-client';

/** Bytes that this process reads at the same time of answers of all MCP servers, and of those of one tenant. */
export const MOST_RECEIVED = 64 * 1024 * 1024;
const SHARE = MOST_RECEIVED / 2;
/** Bytes that an answer may always have: what is short is never refused because of others. */
const ALWAYS = 64 * 1024;

/** Counts the bytes of answers that are being read and not yet passed on, for all tenants and for each. */
export class ReceivedBytes {
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** Opens the account of one answer of a server of the tenant. */
  answer(tenant: string): AnswerAccount {
    return new AnswerAccount((change) => this.take(tenant, change));
  }

  /** @returns whether there is room for so many bytes more; they are counted in either case */
  private take(tenant: string, change: number): boolean {
    const held = (this.tenants.get(tenant) ?? 0) + change;
    if (held > 0) this.tenants.set(tenant, held);
    else this.tenants.delete(tenant);
    this.total += change;
    return held <= SHARE && this.total <= MOST_RECEIVED;
  }
}

/** The bytes of one answer that are held now. */
export class AnswerAccount {
  private held = 0;

  constructor(private readonly change: (bytes: number) => boolean) {}

  /** @throws AgentCallError where other answers leave no room for a long one */
  take(bytes: number): void {
    this.held += bytes;
    if (this.change(bytes) || this.held <= ALWAYS) return;
    this.release();
    throw new AgentCallError(
      'invalid-response',
      'too many long answers of MCP servers are being read at the same time',
    );
  }

  /** Returns what is held: it has been passed on, or will not be. */
  release(): void {
    this.change(-this.held);
    this.held = 0;
  }
}
