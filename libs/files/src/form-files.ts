import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { malformedRequest } from '#libs/http-server';
import { textStart } from '#libs/protocol';
import type { ArrivingFile } from './file-contents.js';
import { unreadableForm } from './file-errors.js';
import { fileLabel, isMediaType } from './file-label.js';
import { freeChunk } from './spent-memory.js';

/** Maximum number of files in one form. */
const MOST_FILES = 20;
/** Maximum bytes in memory of a field that is no file. A form with such a field is refused in any case. */
const FIELD_BYTES = 64;
const HEADER_BYTES = 8 * 1024;
const HEADERS = 20;
const SHOWN_NAME = 64;
/** Maximum bytes of a form's body, without the content of files that the reader has already taken. */
const MOST_BESIDE = 1024 ** 2;
/** Quotation mark in a name, as browsers and curl send it (HTML, "multipart/form-data encoding algorithm"). */
const SENT_QUOTE = '%22';
const BROKEN = 'the form is cut off or is not multipart/form-data';

interface FormFile {
  name: string | undefined;
  mediaType: string;
  content: Readable;
}

/**
 * Yields the files of a form (multipart/form-data) in order. Each file must be read to its end before the next one is
 * requested. Unread data stays in the connection.
 * @throws ProblemError 400 if the form is malformed, has no files, more than 20 files, an empty file, other fields, or
 *   more than 1 MiB besides its files
 */
export async function* formFiles(body: Readable, contentType: string): AsyncGenerator<ArrivingFile> {
  const form = new FormReader(body, contentType);
  try {
    let count = 0;
    for (let file = await form.next(); file; file = await form.next()) {
      count += 1;
      const { name, mediaType, content } = file;
      yield {
        ...fileLabel({ name: name?.replaceAll(SENT_QUOTE, '"'), mediaType }, `file[${count - 1}]`),
        content: form.guardContent(content, `file[${count - 1}]`),
      };
    }
    if (count === 0) throw malformedRequest({ path: 'file', detail: 'the form must have 1 to 20 parts of this name' });
  } finally {
    form.close();
  }
}

/** Turns the events of the form parser into files that a reader requests one by one. */
class FormReader {
  private readonly parser: BusboyInstance;
  private readonly waiting: FormFile[] = [];
  private readonly open = new Set<Readable>();
  /** Chunks of the body by the ArrayBuffer that holds their bytes. */
  private readonly chunks = new WeakMap<ArrayBufferLike, Uint8Array>();
  private failure: Error | undefined;
  private isOver = false;
  /**
   * Content type in the header of the current part, with the parameters that the parser drops; `undefined` without
   * one.
   */
  private sentType: string | undefined;
  /** Bytes of the body that have arrived, except the content of files that the reader has already taken. */
  private beside = 0;
  private wakeReader: () => void = () => undefined;

  constructor(
    private readonly body: Readable,
    contentType: string,
  ) {
    this.parser = parserOf(contentType);
    this.parser
      .on('file', (_field, content, name, _encoding, parsedType) => {
        const sentType = this.sentType?.trim() ?? '';
        this.add({ name, mediaType: isMediaType(sentType) ? sentType : parsedType, content });
      })
      .on('field', (name) => this.failForm(strangeField(name)))
      .on('filesLimit', () => this.failForm(tooManyFiles()))
      .on('partsLimit', () => this.failForm(tooManyFiles()))
      .on('error', () => this.failForm(unreadableForm(BROKEN)))
      .on('finish', () => this.endForm());
    onPartHeader(this.parser, (header) => (this.sentType = header['content-type']?.[0]));
    body.once('error', this.onBodyError).once('close', this.onBodyClose);
    body.on('data', this.onBodyData).pipe(this.parser);
    // The events of a destroyed body are over: the client left before the listeners were added.
    if (body.destroyed && !body.readableEnded) this.failForm(unreadableForm(BROKEN));
  }

  /** Returns the next file; `undefined` after the last one. @throws ProblemError 400 */
  async next(): Promise<FormFile | undefined> {
    while (this.waiting.length === 0 && this.failure === undefined && !this.isOver) {
      await new Promise<void>((resolve) => (this.wakeReader = resolve));
    }
    if (this.failure !== undefined) throw this.failure;
    return this.waiting.shift();
  }

  /**
   * Yields the content of a file. Fails if the file is empty, is cut off, or if any part of the form was found to be
   * invalid before the end of this file.
   * @param path name of the file in the error for an empty file, for example `file[0]`
   * @throws ProblemError 400
   */
  async *guardContent(content: Readable, path: string): AsyncGenerator<Uint8Array> {
    let memory: ArrayBufferLike | undefined;
    let isEmpty = true;
    try {
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        // This piece lies in the next chunk of the body: all pieces of the previous chunk have been read.
        if (memory !== undefined && memory !== chunk.buffer) this.freeSpent(memory);
        memory = chunk.buffer;
        this.beside -= chunk.byteLength;
        isEmpty &&= chunk.byteLength === 0;
        yield chunk;
      }
    } catch (error) {
      throw this.failure ?? (error instanceof Error ? unreadableForm(BROKEN) : error);
    } finally {
      this.open.delete(content);
    }
    if (this.failure !== undefined) throw this.failure;
    if (isEmpty) throw malformedRequest({ path, detail: 'must have a content' });
  }

  /** Stops reading the body. The caller of `formFiles` has to drain the rest of the body or close its connection. */
  close(): void {
    this.body
      .off('data', this.onBodyData)
      .off('error', this.onBodyError)
      .off('close', this.onBodyClose)
      .unpipe(this.parser);
    for (const content of this.open) content.destroy();
    this.parser.destroy();
  }

  private add(file: FormFile): void {
    // An error of a content without a reader would end the process.
    file.content.on('error', () => this.failForm(unreadableForm(BROKEN)));
    this.open.add(file.content);
    this.waiting.push(file);
    this.wakeReader();
  }

  private failForm(error: Error): void {
    this.failure ??= error;
    // Otherwise the reader of a content would wait for bytes that never arrive.
    for (const content of this.open) content.destroy(this.failure);
    this.wakeReader();
  }

  private endForm(): void {
    this.isOver = true;
    this.wakeReader();
  }

  /** Frees the memory of a chunk that is no longer used, if the chunk spans all of that memory. */
  private freeSpent(memory: ArrayBufferLike): void {
    const chunk = this.chunks.get(memory);
    if (chunk) freeChunk(chunk);
  }

  private readonly onBodyData = (chunk: Uint8Array): void => {
    this.chunks.set(chunk.buffer, chunk);
    this.beside += chunk.byteLength;
    if (this.beside > MOST_BESIDE) this.failForm(unreadableForm('the form has more than 1 MiB beside its files'));
  };

  private readonly onBodyError = (): void => this.failForm(unreadableForm(BROKEN));

  private readonly onBodyClose = (): void => {
    if (!this.body.readableEnded) this.failForm(unreadableForm(BROKEN));
  };
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: (field) => field === 'file',
      limits: {
        files: MOST_FILES,
        parts: MOST_FILES + 1,
        fields: 1,
        fieldSize: FIELD_BYTES,
        headerPairs: HEADERS,
        headerSize: HEADER_BYTES,
      },
    });
  } catch {
    throw malformedRequest({ path: 'Content-Type', detail: 'must name the boundary of the form' });
  }
}

/** Headers of a part by lower-case name. */
type PartHeader = Record<string, string[] | undefined>;

/**
 * Calls `listener` with the header of each part, as it was sent, before the part's file begins. Only the parser inside
 * busboy reports the unchanged header.
 */
function onPartHeader(form: BusboyInstance, listener: (header: PartHeader) => void): void {
  const { parser } = (form as unknown as { _parser: { parser: EventEmitter } })._parser;
  parser.prependListener('part', (part: EventEmitter) => part.prependListener('header', listener));
}

function strangeField(name: string | undefined): Error {
  const path = textStart(name ?? '', SHOWN_NAME);
  return malformedRequest({ path, detail: 'is not a field of an upload, whose parts are all named file' });
}

function tooManyFiles(): Error {
  return malformedRequest({ path: 'file', detail: `an upload has at most ${MOST_FILES} files` });
}
