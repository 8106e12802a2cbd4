import { AgentCallError } from '#libs/a2a-client';

/** Maximum bytes of unfinished answers that this process holds for all MCP servers; one tenant may hold half of it. */
export const MOST_RECEIVED = 64 * 1024 * 1024;
const SHARE = MOST_RECEIVED / 2;
/** Bytes that every answer may hold: a short answer is never refused because of others. */
const ALWAYS = 64 * 1024;

/** Counts the held bytes of unfinished answers, per tenant and in total. */
export class ReceivedBytes {
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** Opens the account of one answer for the tenant. */
  openAccount(tenant: string): AnswerAccount {
    return new AnswerAccount((change) => this.countChange(tenant, change));
  }

  /** Counts the change in either case. @returns true if the held bytes are within both limits */
  private countChange(tenant: string, change: number): boolean {
    const held = (this.tenants.get(tenant) ?? 0) + change;
    if (held > 0) this.tenants.set(tenant, held);
    else this.tenants.delete(tenant);
    this.total += change;
    return held <= SHARE && this.total <= MOST_RECEIVED;
  }
}

/** Account of the bytes that one answer holds. */
export class AnswerAccount {
  private held = 0;

  constructor(private readonly change: (bytes: number) => boolean) {}

  /** Holds more bytes. @throws AgentCallError if a long answer exceeds the limits */
  holdBytes(bytes: number): void {
    this.held += bytes;
    if (this.change(bytes) || this.held <= ALWAYS) return;
    this.releaseBytes();
    throw new AgentCallError(
      'invalid-response',
      'too many long answers of MCP servers are being read at the same time',
    );
  }

  /** Releases all held bytes. */
  releaseBytes(): void {
    this.change(-this.held);
    this.held = 0;
  }
}
