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

/** The body of an error, in every answer that is one. */
export const PROBLEM_RESPONSE = {
  content: { 'application/problem+json': { schema: { $ref: getSchemaPath('Problem') } } },
};

/** Documents that a body is refused with members that no rule knows; `unknown` of its class has the words. */
export function ApiClosed(): ClassDecorator {
  // Nest adds all that it is given to the schema, and declares the name and the description alone.
  const more: object = { additionalProperties: false };
  return ApiSchema(more as ApiSchemaOptions);
}

/** Documents an error of `/api`. */
export function ApiProblem(status: number, description: string): MethodDecorator & ClassDecorator {
  return ApiResponse({ status, description, ...PROBLEM_RESPONSE });
}

/** Documents that an answer may be large, and then waits for room. */
export function ApiLargeAnswer(): MethodDecorator & ClassDecorator {
  return ApiProblem(503, 'Too many large answers are under way; `Retry-After` says when to try again.');
}

/** Documents a resumable stream of what the address names, which ends with one of the given types. */
export function ApiEventStream(summary: string, last: string, data?: object): MethodDecorator {
  return applyDecorators(
    ApiOperation({ summary }),
    ApiCursor(),
    ApiEvents(last, data),
    ApiProblem(400, 'The cursor is malformed or beyond the last event.'),
  );
}

/**
 * Documents a stream of events that ends with one of the given types.
 * @param data an example of what such an event says
 */
export function ApiEvents(last: string, data?: object): MethodDecorator {
  const description =
    'Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. ' +
    `The last one is ${last}.`;
  const type = /`(.+?)`/.exec(last)?.[1] ?? 'done';
  const example = `id: 7\nevent: ${type}\ndata: ${JSON.stringify(data ?? { type, sequence: 7 })}\n\n`;
  return ApiOkResponse({ description, content: { 'text/event-stream': { schema: { type: 'string' }, example } } });
}

/** Documents where a stream begins. */
export function ApiCursor(): MethodDecorator {
  return applyDecorators(
    ApiQuery({
      name: 'since',
      required: false,
      description: 'The number of the last event that was seen.',
      example: 6,
    }),
    ApiHeader({ name: 'Last-Event-ID', required: false, description: 'As `since`, and before it.' }),
  );
}

/** Documents that a request may carry a key, under which it is the same one again. */
export function ApiIdempotent(what: string): MethodDecorator {
  return applyDecorators(
    ApiHeader({ name: 'Idempotency-Key', required: false, description: `The same key and body: the same ${what}.` }),
    ApiProblem(409, `Another ${what} was started under this Idempotency-Key.`),
  );
}
