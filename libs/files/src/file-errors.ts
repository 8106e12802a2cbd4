import { malformedRequest, ProblemError } from '#libs/http-server';

const MEGABYTE = 1024 ** 2;
/** Maximum number of Task ids that an error lists. */
export const SHOWN_TASKS = 10;

/** Returns the error for an unknown file, or a file of another owner: 404. */
export function unknownFile(): ProblemError {
  return new ProblemError(404, 'file not found');
}

/** Returns the error for a file above `FILE_LIMIT`: 413. */
export function fileTooLarge(limit: number, path = 'file'): ProblemError {
  const detail = `must have at most ${sizeText(limit)}`;
  return new ProblemError(
    413,
    path === '' ? `the body ${detail}` : `${path}: ${detail}`,
    [{ path, detail }],
    'FILE_TOO_LARGE',
  );
}

/** Reports that Tasks reference the file: 409. */
export class FileInUse extends ProblemError {
  /**
   * @param taskIds ids of Tasks, newest first: at most SHOWN_TASKS, and one more id if further Tasks reference the file
   */
  constructor(taskIds: readonly string[]) {
    const shown = taskIds.slice(0, SHOWN_TASKS).join(', ');
    const more = taskIds.length > SHOWN_TASKS ? ' and others' : '';
    const detail = `the file is kept as long as the Tasks that name it: ${shown}${more}`;
    super(409, detail, [{ path: 'id', detail }], 'FILE_IN_USE');
  }
}

/** Reports that a file cannot be deleted, since a Task is about to refer to it: 409. */
export class FileHeld extends ProblemError {
  constructor() {
    const detail = 'the file holds bytes of a Task that is being recorded: try again later';
    super(409, detail, [{ path: 'id', detail }], 'FILE_IN_USE');
  }
}

/** Returns the error for an owner whose quota is used up: 413. */
export function quotaExceeded(limit: number): ProblemError {
  const detail = `a caller stores at most ${sizeText(limit)} of files: delete some first`;
  return new ProblemError(413, detail, [{ path: '', detail }], 'QUOTA_EXCEEDED');
}

/** Reports an upload that took too long, so that its stored contents were already deleted: 503. */
export class UploadGivenUp extends ProblemError {
  constructor() {
    super(503, 'The upload took too long and was canceled; send it again');
  }
}

/** Returns the error for unavailable storage: 503. */
export function storageUnavailable(detail: string): ProblemError {
  return new ProblemError(503, detail, [], 'STORAGE_UNAVAILABLE');
}

/** Returns the error for a malformed or truncated form: 400. */
export function unreadableForm(detail: string): ProblemError {
  return malformedRequest({ path: '', detail });
}

function sizeText(bytes: number): string {
  return bytes % MEGABYTE === 0 ? `${bytes / MEGABYTE} MiB` : `${bytes} bytes`;
}
