import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';

/** Documents a stream of run events. */
export function ApiRunEvents(): MethodDecorator {
  const description =
    'Server-sent events: `id` is the number of the event in the run, `event` its type, `data` the event as JSON. ' +
    'The last one is `done`.';
  return applyDecorators(
    ApiOkResponse({ description, content: { 'text/event-stream': { schema: { type: 'string' } } } }),
  );
}
