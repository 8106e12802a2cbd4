import { addAbortSignal } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { OutgoingFiles } from '#libs/a2a-client';
import { ServiceAddress } from '#libs/http';
import { retryWhileDatabaseDown } from '#libs/postgres';
import type { Part } from '#libs/protocol';
import { FileAddresses } from './file-addresses.js';
import { FileContents } from './file-contents.js';
import { unknownFile } from './file-errors.js';
import { FileStore } from './file-store.js';
import { OwnFileUrls, type SignedUrl } from './own-file-urls.js';
import { readThroughOutage } from './storage-outage.js';
import type { FileOwner, StoredFile } from './stored-file.js';

/** Reads files that Parts reference by URLs of this service, without network access. */
@Injectable()
export class OwnFiles extends OutgoingFiles {
  constructor(
    private readonly files: FileStore,
    private readonly contents: FileContents,
    private readonly addresses: FileAddresses,
    private readonly service: ServiceAddress,
    private readonly urls: OwnFileUrls,
  ) {
    super();
  }

  /** Returns the owner's files that the URLs of Parts reference, by these URLs. */
  async findNamed(parts: readonly Part[], owner: FileOwner): Promise<Map<string, StoredFile>> {
    const ids = new Map(
      parts.flatMap(({ url = '' }): [string, string][] => {
        const id = this.urls.idOf(url);
        return id === undefined ? [] : [[url, id]];
      }),
    );
    const files = await this.files.findAmong(owner, [...ids.values()]);
    return new Map(
      [...ids].flatMap(([url, id]): [string, StoredFile][] => {
        const file = files.get(id);
        return file ? [[url, file]] : [];
      }),
    );
  }

  /** True if the URL of a Part is a signed address of a file of this service, of any owner. */
  isSigned({ url }: Part): boolean {
    return this.signedUrl(url) !== undefined;
  }

  /** Returns Parts with the plain URL of each of the owner's files in place of a signed address, which would expire. */
  async withoutSignatures(parts: readonly Part[], owner: FileOwner): Promise<Part[]> {
    const signed = new Map(parts.map((part) => [part, this.signedUrl(part.url)]));
    const ids = [...signed.values()].flatMap((it) => it?.id ?? []);
    const files = await this.files.findAmong(owner, ids);
    return parts.map((part) => {
      const address = signed.get(part);
      return address && files.has(address.id) ? { ...part, url: address.url } : part;
    });
  }

  /**
   * Returns the content of the file that a URL references; `undefined` for a URL of another service. Waits for an
   * unreachable database, and up to five minutes for the storage.
   * @param admit called once with the bytes of the file before they are read; its exceptions are rethrown
   * @throws ProblemError 404 for a file that the owner does not have, 503 after these minutes; the signal's reason
   */
  async readContent(
    url: string,
    owner: FileOwner,
    admit: (bytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const id = this.urls.idOf(url);
    if (id === undefined) return undefined;
    const file = await this.findFile(id, owner, signal);
    if (!file) throw unknownFile();
    await admit(file.size);
    return readThroughOutage(() => this.readWholeContent(file, signal), signal);
  }

  /** Returns the whole content of a file. @throws ProblemError like `FileContents.openContent`; the signal's reason */
  async readWholeContent(file: StoredFile, signal: AbortSignal): Promise<Buffer> {
    const pieces: Buffer[] = [];
    try {
      const content = addAbortSignal(signal, await this.contents.openContent(file));
      for await (const piece of content) pieces.push(piece as Buffer);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
    return Buffer.concat(pieces);
  }

  override async openFiles(
    parts: readonly Part[],
    owner: FileOwner,
    forMs: number,
    signal: AbortSignal,
  ): Promise<Part[]> {
    const until = new Date(Date.now() + forMs);
    const base = this.service.publicBaseUrl();
    const files = await retryWhileDatabaseDown(() => this.findNamed(parts, owner), signal);
    return parts.map((part) => {
      const file = files.get(part.url ?? '');
      return file ? { ...part, url: this.addresses.signAddress(file, base, until) } : part;
    });
  }

  private signedUrl(text: string | undefined): SignedUrl | undefined {
    // Fast path: most URLs have no signature.
    const signed = text?.includes('&signature=') ? this.urls.signedUrl(text) : undefined;
    return signed && this.addresses.isSigned(signed.id, signed.proof) ? signed : undefined;
  }

  private findFile(id: string, owner: FileOwner, signal: AbortSignal): Promise<StoredFile | undefined> {
    return retryWhileDatabaseDown(() => this.files.get(owner, id), signal);
  }
}
