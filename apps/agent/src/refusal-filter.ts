import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { A2AError } from '#libs/protocol';

/** Reports an A2AError at addresses that belong to no A2A route. */
@Catch(A2AError)
export class RefusalFilter implements ExceptionFilter<A2AError> {
  catch({ status, message }: A2AError, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().status(status).send({ statusCode: status, message });
  }
}
