import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { type BodyType, readBody } from './read-body.js';
import { type QueryType, readQuery } from './read-query.js';

/**
 * Validates everything sent to `/api`: `@Body()` and `@Query()` parameters are instances of their declared classes,
 * checked by class-validator. Unlike Nest's pipe it reports this API's problems, leaves free-form JSON unchanged, and
 * is synchronous.
 */
@Injectable()
export class ApiValidationPipe extends ValidationPipe {
  /** Validates a parameter. @throws ProblemError 400 with one entry for each field at fault */
  // Nest's own signature.
  // oxlint-disable-next-line typescript/no-explicit-any
  override transform(value: unknown, metadata: ArgumentMetadata): any {
    const { metatype, type } = metadata;
    if ((type !== 'body' && type !== 'query') || !metatype || !this.toValidate(metadata)) return value;
    return type === 'body'
      ? readBody(metatype as BodyType<object>, value)
      : readQuery(metatype as QueryType<object>, value);
  }
}
