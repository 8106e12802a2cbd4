import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { type BodyType, readBody } from './read-body.js';
import { type QueryType, readQuery } from './read-query.js';

/**
 * The validation of everything that `/api` is sent: a handler's `@Body()` and `@Query()` are instances of the classes
 * that they are declared as, by the rules of class-validator. Nest's pipe with the problems of this API, and with two
 * differences: free-form JSON is left as it was sent, and nothing is waited for.
 */
@Injectable()
export class ApiValidationPipe extends ValidationPipe {
  /** @throws ProblemError 400 with one entry for each field at fault */
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
