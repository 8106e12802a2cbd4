import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { drainBody, malformedRequest } from '#libs/http';
import { AppConfig } from '#libs/service';
import { type ArrivingFile, FileContents } from './file-contents.js';
import { fileTooLarge } from './file-errors.js';
import { fileLabel, sentFileName } from './file-label.js';
import { formFiles } from './form-files.js';
import { freeingChunks } from './spent-memory.js';
import type { FileOwner, StoredFile } from './stored-file.js';
import { type UploadConnection, watchPace } from './upload-pace.js';
import { UploadSlots } from './upload-slots.js';

/** Incoming upload. */
export interface Upload {
  readonly owner: FileOwner;
  /** Account under which uploads are counted. */
  readonly caller: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  readonly connection: UploadConnection;
}

const FORM = /^\s*multipart\/form-data\s*(;|$)/i;
const CUT_OFF = 'the body is cut off';

/** Receives uploads: a form with files, or a body that is one file. */
@Injectable()
export class Uploads {
  constructor(
    private readonly contents: FileContents,
    private readonly config: AppConfig,
    private readonly slots: UploadSlots,
  ) {}

  /**
   * Stores the files of an upload. The rest of a refused body is read and dropped while the response is sent: a client
   * that is still sending would not see it otherwise. A client that announced too much need not send it.
   * @throws ProblemError 400, 413, 503; A2AError RATE_LIMITED
   */
  async receiveUpload(upload: Upload): Promise<StoredFile[]> {
    try {
      const leave = this.slots.takeSlot({ caller: upload.caller, tenant: upload.owner.tenant });
      const endWatch = watchPace(upload.body, upload.connection);
      try {
        return await this.storeUpload(upload);
      } finally {
        endWatch();
        leave();
      }
    } catch (error) {
      void drainBody(upload.body);
      throw error;
    }
  }

  private async storeUpload({ owner, headers, body }: Upload): Promise<StoredFile[]> {
    const announced = Number(headers['content-length'] ?? 0);
    const contentType = headers['content-type'];
    if (contentType !== undefined && FORM.test(contentType))
      return this.contents.storeFiles(owner, formFiles(body, contentType), announced);
    const { fileBytes } = this.config.files;
    if (announced > fileBytes) throw fileTooLarge(fileBytes, '');
    return this.contents.storeFiles(owner, bodyFile(body, headers), announced);
  }
}

/** Yields the single file of a body. */
async function* bodyFile(body: Readable, headers: IncomingHttpHeaders): AsyncGenerator<ArrivingFile> {
  const name = sentFileName(headers['content-disposition']);
  const label = fileLabel({ name, mediaType: headers['content-type'] }, name === undefined ? 'Content-Type' : 'file');
  yield { ...label, content: freeingChunks(wholeBody(body)) };
}

/** Yields the bytes of a body. It fails for an empty or truncated body. */
async function* wholeBody(body: Readable): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  try {
    // By default the iterator would destroy the body, and the connection that the response needs.
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      isEmpty = false;
      yield chunk as Uint8Array;
    }
  } catch {
    throw malformedRequest({ path: '', detail: CUT_OFF });
  }
  if (isEmpty)
    throw malformedRequest({ path: '', detail: 'the body must be a form with files, or the content of a file' });
}
