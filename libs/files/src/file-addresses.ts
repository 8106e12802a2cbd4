import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import type { StoredFile } from './stored-file.js';

/** Name of the stored secret that signs addresses. */
const SECRET = 'file-addresses';
const SECOND_MS = 1_000;

/** Expiry and signature in the address of a file. */
export interface FileProof {
  /** Expiry in seconds since 1970. */
  readonly expires: number;
  /** Signature in base64url. */
  readonly signature: string;
}

/**
 * Signs addresses (URLs) that open a file without a key, for a limited time. All replicas share the secret.
 * - The signature covers the expiry and the file's id, which is unique across tenants: it opens no other file, and not
 *   for longer.
 * - The signature is verified without the database, so an invented address costs no query.
 */
@Injectable()
export class FileAddresses {
  private constructor(private readonly secret: Buffer) {}

  /** Loads the secret that the replicas share. */
  static async openAddresses(database: Database): Promise<FileAddresses> {
    return new FileAddresses(await serviceSecret(database, SECRET));
  }

  /**
   * Returns a signed address of a file.
   * @param baseUrl base URL of this service, without a trailing slash
   * @param until expiry, rounded down to a second
   */
  signAddress({ id }: Pick<StoredFile, 'id'>, baseUrl: string, until: Date): string {
    const expires = Math.floor(until.getTime() / SECOND_MS);
    return `${baseUrl}/files/${id}?expires=${expires}&signature=${this.computeSignature(id, expires)}`;
  }

  /** True if a proof belongs to the file with this id, and has not expired. */
  isValid(id: string, proof: FileProof): boolean {
    return this.isSigned(id, proof) && proof.expires * SECOND_MS > Date.now();
  }

  /** True if a proof belongs to the file with this id, even if it has expired. */
  isSigned(id: string, { expires, signature }: FileProof): boolean {
    const expected = Buffer.from(this.computeSignature(id, expires));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private computeSignature(id: string, expires: number): string {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([id, expires]))
      .digest('base64url');
  }
}
