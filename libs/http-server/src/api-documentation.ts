import { applyDecorators } from '@nestjs/common';
import {
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiResponse,
  ApiSchema,
  type ApiSchemaOptions,
  getSchemaPath,
} from '@nestjs/swagger';

/** Documentation (OpenAPI) of every error response: its body is a Problem. */
export const PROBLEM_RESPONSE = {
  content: { 'application/problem+json': { schema: { $ref: getSchemaPath('Problem') } } },
};

/**
 * Documents in the OpenAPI description that a body with unknown members is rejected. The decorator itself rejects
 * nothing: the class must also have the static member `unknown`, the error text with which the validation rejects them.
 */
export function ApiClosed(): ClassDecorator {
  // Nest adds every member to the schema, but its type allows only name and description.
  const more: object = { additionalProperties: false };
  return ApiSchema(more as ApiSchemaOptions);
}

/** Schema of a member that may have any JSON value. Nest would document an object. */
export const ANY_JSON = { oneOf: [{}], type: Object };

const ETAG = { description: 'Revision of the workflow, for `If-Match`.', schema: { type: 'string' }, example: '"7"' };
const LOCATION = { description: 'Path of the created object.', schema: { type: 'string' } };

/** Documents the `ETag` header of a response. */
export const ETAG_HEADER = { headers: { ETag: ETAG } };
/** Documents the `Location` header of a response. */
export const LOCATION_HEADER = { headers: { Location: LOCATION } };
/** Documents the headers of a response that created a workflow. */
export const CREATED_HEADERS = { headers: { ETag: ETAG, Location: LOCATION } };

/** Documents an error of `/api`. */
export function ApiProblem(status: number, description: string): MethodDecorator & ClassDecorator {
  return ApiResponse({ status, description, ...PROBLEM_RESPONSE });
}

/** Documents that an answer may be large, and then waits for memory (see ResponseBudget). */
export function ApiLargeAnswer(): MethodDecorator & ClassDecorator {
  return ApiProblem(503, 'Too many large answers are under way; `Retry-After` says when to try again.');
}

/**
 * Documents a resumable stream.
 * @param last types of events of which one ends the stream, each in backticks
 * @param data example of the last event's data
 */
export function ApiEventStream(summary: string, last: string, data?: object): MethodDecorator {
  return applyDecorators(
    ApiOperation({ summary }),
    ApiCursor(),
    ApiEvents(last, data),
    ApiProblem(400, 'The cursor is malformed or beyond the last event.'),
  );
}

/**
 * Documents a stream of events.
 * @param last types of events of which one ends the stream, each in backticks
 * @param data example of the last event's data
 */
export function ApiEvents(last: string, data?: object): MethodDecorator {
  const description =
    'Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. ' +
    `The last one is ${last}.`;
  const type = /`(.+?)`/.exec(last)?.[1] ?? 'done';
  const example = `id: 7\nevent: ${type}\ndata: ${JSON.stringify(data ?? { type, sequence: 7 })}\n\n`;
  return ApiOkResponse({ description, content: { 'text/event-stream': { schema: { type: 'string' }, example } } });
}

/** Documents the cursor from which a reader resumes a stream: `Last-Event-ID` or `since`. */
function ApiCursor(): MethodDecorator {
  return applyDecorators(
    ApiQuery({
      name: 'since',
      required: false,
      description: 'Number of the last event received.',
      schema: { type: 'integer', minimum: 0, example: 6 },
    }),
    ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Same as `since`; takes precedence over it.' }),
  );
}

/** Documents that a request may carry an idempotency key. @param what noun of the created object, such as `run` */
export function ApiIdempotent(what: string): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: `A repeated request with the same key and body returns the same ${what}.`,
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    }),
    ApiProblem(409, `Another ${what} was started under this Idempotency-Key.`),
  );
}
