import { A2AError } from '#libs/protocol';
import type { Permission } from './caller.js';

/** Returns the error for missing or invalid credentials: 401. The text is the same for all reasons. */
export function unauthenticatedError(): A2AError {
  return new A2AError('UNAUTHENTICATED', { detailReason: 'UNAUTHENTICATED' });
}

/** Returns the error for an authenticated caller without the permission: 403. */
export function permissionDenied(needed: readonly Permission[]): A2AError {
  const message = `The credentials lack the scope ${needed.join(' or ')}`;
  const metadata = { scope: needed.join(' ') };
  return new A2AError('PERMISSION_DENIED', { message, detailReason: 'PERMISSION_DENIED', metadata });
}

/** Returns the error for a request that a web page of another origin caused in a browser: 403. */
export function foreignPage(): A2AError {
  return new A2AError('PERMISSION_DENIED', {
    message: 'Pages of another origin may not call this service; CORS_ORIGINS lists those that may',
    detailReason: 'FOREIGN_ORIGIN',
  });
}

/**
 * Returns the error for a request whose host is unreadable or does not belong to this service: 421 (RFC 9110, section
 * 15.5.20).
 */
export function hostNotServed(host: string | undefined): A2AError {
  const what = host === undefined ? 'Requests that name no host are' : `The host ${host} is`;
  const message = `${what} not served here; ALLOWED_HOSTS lists the hosts that are`;
  return new A2AError('INVALID_REQUEST', { message, status: 421, detailReason: 'HOST_NOT_SERVED' });
}

/** Returns the error for HTTP/1.1 without a Host header: 400 (RFC 9112, section 3.2). */
export function hostMissing(): A2AError {
  return new A2AError('INVALID_REQUEST', { message: 'The Host header is missing', detailReason: 'HOST_MISSING' });
}
