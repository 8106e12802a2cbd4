import { invalidParams } from '#libs/protocol';

/** Position of a Task in the list of section 3.1.4: newest status first, then by id. */
export interface ListPosition {
  updatedAt: Date;
  taskId: string;
}

const TOKEN = /^(\d{1,16})\.([^\p{Cc}]{1,256})$/su;

/** Returns an opaque token for the page after a position. */
export function encodePageToken(position: ListPosition): string {
  return Buffer.from(`${position.updatedAt.getTime()}.${position.taskId}`).toString('base64url');
}

/** Decodes a token. @throws A2AError INVALID_PARAMS for a token that `encodePageToken` did not create */
export function decodePageToken(token: string): ListPosition {
  const match = /^[\w-]+$/.test(token) ? TOKEN.exec(Buffer.from(token, 'base64url').toString()) : null;
  const updatedAt = new Date(Number(match?.[1]));
  const taskId = match?.[2];
  if (taskId === undefined || Number.isNaN(updatedAt.getTime())) {
    throw invalidParams({ field: 'pageToken', description: 'is not a token that ListTasks gave' });
  }
  return { updatedAt, taskId };
}
