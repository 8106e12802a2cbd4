import type { HeldParts, RequestContext } from '#libs/agents';
import { claimsKeptFile, type Part } from '#libs/protocol';

/**
 * Parts of a turn's Message, with the bytes of stored files while they are needed to send the Message. The bytes count
 * toward the memory limit of the Task's owner until they are released.
 */
export class SentParts implements Disposable {
  private held: HeldParts | undefined;
  private parts: Part[] | undefined;

  constructor(
    private readonly stored: readonly Part[],
    private readonly holdParts: RequestContext['holdParts'],
  ) {}

  /** Returns the Parts for a call that may send the Message. The array becomes empty when they are released. */
  async readParts(): Promise<Part[]> {
    if (this.parts !== undefined) return this.parts;
    this.held = this.stored.some(claimsKeptFile) ? await this.holdParts?.(this.stored) : undefined;
    this.parts = [...(this.held?.parts ?? this.stored)];
    return this.parts;
  }

  /** Releases the bytes of stored files. May be called several times; a later `readParts` reads the files again. */
  release(): void {
    const { held, parts } = this;
    this.held = this.parts = undefined;
    if (parts) parts.length = 0;
    held?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
