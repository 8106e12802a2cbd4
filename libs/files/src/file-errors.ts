import { malformed, ProblemError } from '#libs/http';

const MEGABYTE = 1024 ** 2;
/** Ids of Tasks in an error. */
export const SHOWN_TASKS = 10;

/** 404, also for a file of another owner. */
export function unknownFile(): ProblemError {
  return new ProblemError(404, 'file not found');
}

/** 413: one file is longer than `FILE_LIMIT`. */
export function fileTooLarge(limit: number, path = 'file'): ProblemError {
  const detail = `must have at most ${sizeText(limit)}`;
  return new ProblemError(
    413,
    path === '' ? `the body ${detail}` : `${path}: ${detail}`,
    [{ path, detail }],
    'FILE_TOO_LARGE',
  );
}

/** 409: Tasks name the file. */
export class FileInUse extends ProblemError {
  /** @param taskIds newest first; one more than are shown where there are more */
  constructor(taskIds: readonly string[]) {
    const shown = taskIds.slice(0, SHOWN_TASKS).join(', ');
    const more = taskIds.length > SHOWN_TASKS ? ' and others' : '';
    const detail = `the file is kept as long as the Tasks that name it: ${shown}${more}`;
    super(409, detail, [{ path: 'id', detail }], 'FILE_IN_USE');
  }
}

/** 409: a Task is about to name the file. */
export class FileHeld extends ProblemError {
  constructor() {
    const detail = 'the file holds bytes of a Task that is being recorded: try again later';
    super(409, detail, [{ path: 'id', detail }], 'FILE_IN_USE');
  }
}

/** 413: the owner stores as much as it may. */
export function quotaExceeded(limit: number): ProblemError {
  const detail = `a caller stores at most ${sizeText(limit)} of files: delete some first`;
  return new ProblemError(413, detail, [{ path: '', detail }], 'QUOTA_EXCEEDED');
}

/** 503: the upload took so long that what it had stored was given up. */
export class UploadGivenUp extends ProblemError {
  constructor() {
    super(503, 'The upload took too long and was given up; send it again');
  }
}

/** 503: files cannot be stored or read at the moment. */
export function storageUnavailable(detail: string): ProblemError {
  return new ProblemError(503, detail, [], 'STORAGE_UNAVAILABLE');
}

/** 400: the body is no form that can be read, or broke off. */
export function unreadableForm(detail: string): ProblemError {
  return malformed({ path: '', detail });
}

function sizeText(bytes: number): string {
  return bytes % MEGABYTE === 0 ? `${bytes / MEGABYTE} MiB` : `${bytes} bytes`;
}
