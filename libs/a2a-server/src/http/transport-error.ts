import type { FastifyError } from 'fastify';
import { A2AError } from '#libs/protocol';
import { publicError } from '../public-error.js';

/**
 * What a caller sees of an error that came up before a handler ran, or that a handler let through. A body that is too
 * large and a content type that is not JSON keep their HTTP statuses, 413 and 415, with reasons of ours: what section 5.4
 * calls ContentTypeNotSupportedError is a 400, and speaks of what is in a Message.
 */
export function transportError(error: unknown): A2AError {
  const { code, statusCode } = error as Partial<FastifyError>;
  if (error instanceof A2AError || typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) {
    return publicError(error);
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new A2AError('INVALID_REQUEST', {
      message: 'The request body is too large',
      detailReason: 'BODY_TOO_LARGE',
      status: 413,
    });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new A2AError('INVALID_REQUEST', {
      message: 'The request body must be application/json or application/a2a+json',
      detailReason: 'MEDIA_TYPE_NOT_SUPPORTED',
      status: 415,
    });
  }
  return new A2AError('INVALID_REQUEST', { status: statusCode, cause: error });
}
