import { QueryPageSize, QueryText } from './query-rules.js';

/** Position in a list sorted by newest first. */
export interface PagePosition {
  updatedAt: Date;
  taskId: string;
}

const TOKEN = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;

/** Query of a page. */
export class PageQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryText((text) => text === '' || positionOf(text) !== undefined, 'is not a token of this list', {
    description: 'The nextPageToken of the page before.',
    example: pageTokenAfter({ updatedAt: new Date(Date.UTC(2026, 0, 31)), taskId: '019a1f0e-5b7a-7c31' }),
  })
  pageToken?: string;

  /** Position of the last row of the previous page. */
  get before(): PagePosition | undefined {
    return this.pageToken === undefined || this.pageToken === '' ? undefined : positionOf(this.pageToken);
  }
}

/** Returns the token of the page after a row. */
export function pageTokenAfter({ updatedAt, taskId }: PagePosition): string {
  return Buffer.from(`${updatedAt.getTime()}.${taskId}`).toString('base64url');
}

function positionOf(token: string): PagePosition | undefined {
  const [, time, taskId] = TOKEN.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  const updatedAt = new Date(Number(time));
  return taskId === undefined || Number.isNaN(updatedAt.getTime()) ? undefined : { updatedAt, taskId };
}
