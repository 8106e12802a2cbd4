import { Controller, Get, Head, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiProblem, ProblemError } from '#libs/http-server';
import { FileAddresses } from './file-addresses.js';
import { answerFile } from './file-answer.js';
import { FileContents } from './file-contents.js';
import { FileStore } from './file-store.js';
import { FileProofQuery } from './files.dto.js';
import { FILE_ID } from './stored-file.js';

const BINARY = { type: 'string', format: 'binary', example: 'the bytes of the file' };
/** Content in the media type of the file, which is bytes to clients that do not know it. */
const CONTENT = { 'application/octet-stream': { schema: BINARY }, '*/*': { schema: BINARY } };

/**
 * Serves the content of files at signed addresses, to readers without a key: remote agents, providers of models, people
 * with a link.
 */
@ApiTags('files')
@Controller('files')
export class SignedFilesController {
  constructor(
    private readonly files: FileStore,
    private readonly contents: FileContents,
    private readonly addresses: FileAddresses,
  ) {}

  // Declared before the GET, for which Fastify would add its own HEAD.
  @Head(':id')
  @ApiExcludeEndpoint()
  async describeSignedFile(
    @Param('id') id: string,
    @Query() query: FileProofQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.readSignedFile(id, query, request, reply);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads a file by an address that its owner created; also with HEAD.' })
  @ApiOkResponse({ description: 'The content.', content: CONTENT })
  @ApiResponse({ status: 206, description: 'The range of the content.', content: CONTENT })
  @ApiResponse({ status: 304, description: 'The client has the content already (If-None-Match).' })
  @ApiProblem(400, 'The address has no valid time or signature.')
  @ApiProblem(403, 'The address names no file, was altered, or has expired.')
  @ApiProblem(416, 'The range is beyond the content.')
  async readSignedFile(
    @Param('id') id: string,
    @Query() query: FileProofQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const isOpen = FILE_ID.test(id) && this.addresses.isValid(id, query.proof);
    const file = isOpen ? await this.files.findById(id) : undefined;
    // The response is the same for all reasons, so that it does not reveal which files exist.
    if (!file) throw notOpen();
    await answerFile(this.contents, file, request, reply);
  }
}

function notOpen(): ProblemError {
  return new ProblemError(403, 'the address names no file, was altered, or has expired');
}
