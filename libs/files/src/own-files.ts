import { Injectable } from '@nestjs/common';
import { OutgoingFiles } from '#libs/a2a-client';
import { ServiceAddress } from '#libs/http';
import { throughOutage } from '#libs/postgres';
import type { Part } from '#libs/protocol';
import { FileAddresses } from './file-addresses.js';
import { FileContents } from './file-contents.js';
import { unknownFile } from './file-errors.js';
import { ContentTooLong } from './file-storage.js';
import { FileStore } from './file-store.js';
import { OwnFileUrls } from './own-file-urls.js';
import type { FileOwner, StoredFile } from './stored-file.js';

/** Files that Parts name by their URLs at this service. Nothing is read over the network. */
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

  /** Returns the file of an owner that a URL names; `undefined` for any other URL, and where there is no such file. */
  async find(url: string, owner: FileOwner): Promise<StoredFile | undefined> {
    const id = this.urls.idOf(url);
    return id === undefined ? undefined : this.files.get(owner, id);
  }

  /**
   * Returns the content of the file that a URL names; `undefined` for a URL that is not of this service. Waits for a
   * database that is out of reach.
   * @throws ProblemError 404 for a file that the owner does not have; ContentTooLong beyond `maxBytes`
   */
  async read(url: string, owner: FileOwner, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined> {
    const id = this.urls.idOf(url);
    if (id === undefined) return undefined;
    const file = await this.known(id, owner, signal);
    if (!file) throw unknownFile();
    if (file.size > maxBytes) throw new ContentTooLong(maxBytes);
    return this.contentOf(file);
  }

  /** Returns the whole content of a file. @throws ProblemError as `FileContents.open` does */
  async contentOf(file: StoredFile): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of await this.contents.open(file)) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  }

  override opened(parts: readonly Part[], owner: FileOwner, forMs: number, signal: AbortSignal): Promise<Part[]> {
    const until = new Date(Date.now() + forMs);
    const base = this.service.publicBaseUrl();
    const open = async (part: Part): Promise<Part> => {
      const id = part.url === undefined ? undefined : this.urls.idOf(part.url);
      const file = id === undefined ? undefined : await this.known(id, owner, signal);
      return file ? { ...part, url: this.addresses.address(file, base, until) } : part;
    };
    return Promise.all(parts.map(open));
  }

  private known(id: string, owner: FileOwner, signal: AbortSignal): Promise<StoredFile | undefined> {
    return throughOutage(() => this.files.get(owner, id), signal);
  }
}
