import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { NodeTypes } from '#libs/executor';
import type { FastifyReply } from 'fastify';
import { etagOf, RevisionConditions } from './revision-conditions.js';
import { workflowSchema } from './workflow-schema.js';

const MAX_AGE_SECONDS = 3600;

/** Serves the JSON Schema of definitions, for editors and generators. It changes only with the service's version. */
@ApiTags('workflows')
@Controller('schemas')
export class WorkflowSchemaController {
  /** Body as bytes: Fastify adds a charset to a text, and this media type has none. */
  private readonly json: Buffer;
  private readonly version: string;

  constructor(nodeTypes: NodeTypes) {
    this.json = Buffer.from(JSON.stringify(workflowSchema(nodeTypes)));
    this.version = createHash('sha256').update(this.json).digest('base64url');
  }

  @Get('workflow.json')
  @ApiOperation({ summary: 'The JSON Schema (2020-12) of workflow definitions.' })
  @ApiOkResponse({
    content: {
      'application/schema+json': {
        schema: {
          type: 'object',
          additionalProperties: true,
          example: { type: 'object', required: ['name', 'nodes'] },
        },
      },
    },
  })
  getWorkflowSchema(@Headers() headers: IncomingHttpHeaders, @Res() reply: FastifyReply): void {
    void reply.header('etag', etagOf(this.version)).header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`);
    if (RevisionConditions.fromHeaders(headers).isUnmodified(this.version)) void reply.code(304).send();
    else void reply.header('content-type', 'application/schema+json').send(this.json);
  }
}
