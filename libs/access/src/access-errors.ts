import { A2AError } from '#libs/protocol';
import type { Permission } from './caller.js';

/** No credentials, or none that are valid: 401. The text is the same for all reasons. */
export function unauthenticated(): A2AError {
  return new A2AError('UNAUTHENTICATED', { detailReason: 'UNAUTHENTICATED' });
}

/** A known caller that may not do this: 403. */
export function permissionDenied(needed: readonly Permission[]): A2AError {
  const message = `The credentials lack the scope ${needed.join(' or ')}`;
  const metadata = { scope: needed.join(' ') };
  return new A2AError('PERMISSION_DENIED', { message, detailReason: 'PERMISSION_DENIED', metadata });
}
