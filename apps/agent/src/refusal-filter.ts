import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { A2AError } from '#libs/protocol';

/** Tells an A2AError also where nobody speaks A2A: at an address that is none of the agent's. */
@Catch(A2AError)
export class RefusalFilter implements ExceptionFilter<A2AError> {
  catch({ status, message }: A2AError, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().status(status).send({ statusCode: status, message });
  }
}
