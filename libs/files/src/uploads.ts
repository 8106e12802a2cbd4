import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { CallerSlots } from '#libs/access';
import { drainBody, malformedRequest } from '#libs/http-server';
import { AppConfig, Metrics } from '#libs/service';
import { type ArrivingFile, FileContents } from './file-contents.js';
import { fileTooLarge } from './file-errors.js';
import { fileLabel, sentFileName } from './file-label.js';
import { formFiles } from './form-files.js';
import { freeingChunks } from './spent-memory.js';
import type { FileOwner, StoredFile } from './stored-file.js';

const LOOK_EVERY_MS = 30_000;
/** Minimum bytes of an upload between two checks of its rate, which means 4 KiB a second. */
const LEAST_BYTES = 120 * 1024;

/** Part of an upload's connection that `watchPace` needs to measure the rate of the upload. */
interface UploadConnection {
  /** Number of bytes that have arrived, headers included. */
  readonly bytesRead: number;
}

/**
 * Watches the rate of an upload. Ends the upload if the client sends less than 4 KiB a second over half a minute,
 * because a slow upload occupies a slot. A client that waits because this service has not read its data yet is not
 * slow.
 * @returns the function that ends the watch
 */
export function watchPace(body: Readable, connection: UploadConnection): () => void {
  let before = connection.bytesRead;
  const timer = setInterval(() => {
    const arrived = connection.bytesRead - before;
    before += arrived;
    // `isPaused` is true for every body that an iterator reads.
    const waitsForUs = body.readableLength > 0;
    if (arrived < LEAST_BYTES && !waitsForUs && !body.readableEnded) body.destroy();
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Maximum number of uploads that this process receives concurrently: of one caller, of one tenant, and in total. */
const MOST = { caller: 4, tenant: 48, service: 64 };

/** Limits the number of concurrent uploads. */
@Injectable()
export class UploadSlots extends CallerSlots {
  constructor(metrics: Metrics) {
    super(metrics, {
      most: MOST,
      refusals: {
        caller: `${MOST.caller} uploads of yours are under way`,
        tenant: `${MOST.tenant} uploads of your tenant are under way`,
        service: 'Too many uploads are under way',
      },
      limit: 'uploads',
      retryAfterSeconds: 1,
      metrics: {
        taken: { name: 'parley_uploads', help: 'Uploads that this replica receives at the moment' },
        refused: { name: 'parley_uploads_refused_total', help: 'Uploads refused because too many are under way' },
      },
    });
  }
}

/** Upload of a file that is being received. */
export interface Upload {
  readonly owner: FileOwner;
  /** Name by which the uploads of the caller are counted (see CallerSlots). */
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
   * Stores the files of an upload. A body whose announced length is too large is refused before it arrives. The rest
   * of any other refused body is read and dropped while the response is sent: a client that is still sending would
   * otherwise not see the response.
   * @throws ProblemError 400, 413, 503
   * @throws A2AError RATE_LIMITED
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

/** Yields the bytes of a body. Throws if the body is empty or truncated. */
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
