import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import type { StoredFile } from './stored-file.js';

/** Name of the secret among those of the service. */
const SECRET = 'file-addresses';
const SECOND_MS = 1_000;

/** What an address of a file carries beside the id. */
export interface FileProof {
  /** Unix time in seconds. */
  readonly expires: number;
  /** base64url. */
  readonly signature: string;
}

/**
 * Signs addresses under which a file is read without a key, until a time. All replicas share the secret. The signature
 * covers the file's id, which no other tenant has, and the time, so it opens no other file, and not for longer. It is
 * proved without a look at the database: an invented address costs nothing there.
 */
@Injectable()
export class FileAddresses {
  private constructor(private readonly secret: Buffer) {}

  /** Learns the secret of the replicas. */
  static async begin(database: Database): Promise<FileAddresses> {
    return new FileAddresses(await serviceSecret(database, SECRET));
  }

  /**
   * Returns the address of a file.
   * @param baseUrl of this service, without a trailing slash
   * @param until rounded down to a second
   */
  address({ id }: Pick<StoredFile, 'id'>, baseUrl: string, until: Date): string {
    const expires = Math.floor(until.getTime() / SECOND_MS);
    return `${baseUrl}/files/${id}?expires=${expires}&signature=${this.signature(id, expires)}`;
  }

  /** True if a proof is of the file with this id, and its time is not over. */
  isValid(id: string, proof: FileProof): boolean {
    return this.isSigned(id, proof) && proof.expires * SECOND_MS > Date.now();
  }

  /** True if a proof is of the file with this id, also once its time is over. */
  isSigned(id: string, { expires, signature }: FileProof): boolean {
    const expected = Buffer.from(this.signature(id, expires));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private signature(id: string, expires: number): string {
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([id, expires]))
      .digest('base64url');
  }
}
