import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiQuery, ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';

const TEXT = { type: 'string' } as const;

/** RFC 9457. */
const PROBLEM_SCHEMA: Extract<ApiResponseOptions, { schema: unknown }>['schema'] = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: TEXT,
    title: TEXT,
    status: { type: 'integer' },
    detail: TEXT,
    instance: TEXT,
    errors: {
      type: 'array',
      items: { type: 'object', required: ['path', 'detail'], properties: { path: TEXT, detail: TEXT } },
    },
  },
};

/** Documents an error of `/api`. */
export function ApiProblem(status: number, description: string): MethodDecorator & ClassDecorator {
  return ApiResponse({ status, description, content: { 'application/problem+json': { schema: PROBLEM_SCHEMA } } });
}

/** Documents a stream of events that ends with one of the given types. */
export function ApiEvents(last: string): MethodDecorator {
  const description =
    'Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. ' +
    `The last one is ${last}.`;
  return ApiOkResponse({ description, content: { 'text/event-stream': { schema: { type: 'string' } } } });
}

/** Documents where a stream begins. */
export function ApiCursor(): MethodDecorator {
  return applyDecorators(
    ApiQuery({ name: 'since', required: false, description: 'The number of the last event that was seen.' }),
    ApiHeader({ name: 'Last-Event-ID', required: false, description: 'As `since`, and before it.' }),
  );
}

/** Documents which page of a list is asked for. */
export function ApiPaging(): MethodDecorator {
  return applyDecorators(
    ApiQuery({ name: 'pageSize', required: false, description: '1 to 100, default 50.' }),
    ApiQuery({ name: 'pageToken', required: false, description: 'The nextPageToken of the page before.' }),
  );
}
