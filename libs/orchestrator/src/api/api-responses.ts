import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { PROBLEM_SCHEMA } from './api-schemas.js';

/** Documents an error of `/api`. */
export function ApiProblem(status: number, description: string): MethodDecorator & ClassDecorator {
  return ApiResponse({ status, description, content: { 'application/problem+json': { schema: PROBLEM_SCHEMA } } });
}

/** Documents a stream of run events. */
export function ApiRunEvents(): MethodDecorator {
  const description =
    'Server-sent events: `id` is the number of the event in the run, `event` its type, `data` the event as JSON. ' +
    'The last one is `done`.';
  return applyDecorators(
    ApiOkResponse({ description, content: { 'text/event-stream': { schema: { type: 'string' } } } }),
  );
}

/** Documents where a stream begins. */
export function ApiCursor(): MethodDecorator {
  return applyDecorators(
    ApiQuery({ name: 'since', required: false, description: 'The number of the last event that was seen.' }),
    ApiHeader({ name: 'Last-Event-ID', required: false, description: 'As `since`, and before it.' }),
  );
}
