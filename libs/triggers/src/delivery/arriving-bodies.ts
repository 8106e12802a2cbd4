import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { ProblemError } from '#libs/http-server';
import { A2AError } from '#libs/protocol';

/** Maximum bytes of a delivery. */
export const MOST_BODY_BYTES = 1024 ** 2;
/** Maximum bytes of deliveries that this process holds at a time: in total, and for one webhook. */
const MOST_HELD = { service: 64 * 1024 ** 2, hook: 16 * 1024 ** 2 } as const;
/** Maximum milliseconds in which a body arrives: until then its memory is reserved for a sender that proved nothing. */
const LONGEST_READ_MS = 10_000;
const RETRY_AFTER_S = '1';

/** Reads the bodies of deliveries, and bounds the memory that they take while they are handled. */
@Injectable()
export class ArrivingBodies {
  private readonly held = new Map<string, number>();
  private total = 0;

  /**
   * Reserves memory for a delivery until it is answered.
   * @param announced length that the sender announces; `undefined` if it announces none
   * @returns the function that frees the memory
   * @throws ProblemError 413 for a length beyond MOST_BODY_BYTES; A2AError 503 while there is no memory
   */
  reserveBytes(hookId: string, announced: number | undefined): () => void {
    if (announced !== undefined && !(announced <= MOST_BODY_BYTES)) throw tooLarge();
    const bytes = announced ?? MOST_BODY_BYTES;
    const ofHook = (this.held.get(hookId) ?? 0) + bytes;
    if (this.total + bytes > MOST_HELD.service || ofHook > MOST_HELD.hook) throw overloadError();
    this.total += bytes;
    this.held.set(hookId, ofHook);
    return () => this.freeBytes(hookId, bytes);
  }

  /**
   * Reads a body to its end, unless it is too large. Closes the connection of a sender that is too slow.
   * @throws ProblemError 408 for a body that does not arrive within LONGEST_READ_MS; 413 for one that is too large; 400
   *   if the sender closes the connection
   */
  async readBytes(body: Readable | undefined): Promise<Buffer> {
    const timer = setTimeout(() => body?.destroy(tooSlow()), LONGEST_READ_MS).unref();
    try {
      return await this.collectChunks(body);
    } catch (error) {
      throw error instanceof Error && 'code' in error && error.code === 'ECONNRESET' ? incomplete() : error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async collectChunks(body: Readable | undefined): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    // The stream stays open after a refusal, so that the rest can be drained.
    for await (const chunk of body?.iterator({ destroyOnReturn: false }) ?? []) {
      bytes += (chunk as Buffer).length;
      if (bytes > MOST_BODY_BYTES) throw tooLarge();
      pieces.push(chunk as Buffer);
    }
    return Buffer.concat(pieces);
  }

  private freeBytes(hookId: string, bytes: number): void {
    const left = (this.held.get(hookId) ?? 0) - bytes;
    this.total -= bytes;
    if (left > 0) this.held.set(hookId, left);
    else this.held.delete(hookId);
  }
}

function tooLarge(): ProblemError {
  return new ProblemError(413, `a delivery has at most ${MOST_BODY_BYTES} bytes`);
}

function incomplete(): ProblemError {
  return new ProblemError(400, 'the sender closed the connection before the whole delivery had arrived');
}

function tooSlow(): ProblemError {
  return new ProblemError(408, `a delivery arrives within ${LONGEST_READ_MS / 1_000} seconds`);
}

function overloadError(): A2AError {
  return new A2AError('INTERNAL', {
    message: 'Too many deliveries are handled at the moment; try again later',
    metadata: { limit: 'delivery-bytes', retryAfterSeconds: RETRY_AFTER_S },
    detailReason: 'OVERLOADED',
    status: 503,
  });
}
