import { Body, Controller, Delete, Get, Head, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiExcludeEndpoint,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { type ApiCall, Call, limitName, Scope, setRetryAfter } from '#libs/access';
import { ApiProblem, cutPage, pageTokenAfter, StreamedBody } from '#libs/http-server';
import { FileAddresses } from './file-addresses.js';
import { answerFile } from './file-answer.js';
import { FileContents } from './file-contents.js';
import { unknownFile } from './file-errors.js';
import { FileStore } from './file-store.js';
import { FileListView, FileQuery, FileUrlBody, FileUrlView, fileView, UploadedView } from './files.dto.js';
import { OwnFileUrls } from './own-file-urls.js';
import { FILE_ID, type FileOwner, type StoredFile } from './stored-file.js';
import { Uploads } from './uploads.js';

const SECOND_MS = 1_000;
const BINARY = { type: 'string', format: 'binary', example: 'the bytes of the file' };
/** Content in the media type of the file, which is bytes to clients that do not know it. */
const CONTENT = { 'application/octet-stream': { schema: BINARY }, '*/*': { schema: BINARY } };
const FORM = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'array', maxItems: 20, items: BINARY } },
};

/** Files of callers. Each belongs to the caller that uploaded it, and is invisible to all others. */
@ApiTags('files')
@Controller('api')
export class FilesController {
  constructor(
    private readonly uploads: Uploads,
    private readonly files: FileStore,
    private readonly contents: FileContents,
    private readonly addresses: FileAddresses,
    private readonly urls: OwnFileUrls,
  ) {}

  @Post('upload')
  @StreamedBody()
  @ApiOperation({
    summary: 'Stores files.',
    description:
      'A form with 1 to 20 parts named `file`, or one file as the body, named by `filename` of `Content-Disposition`. ' +
      'Also as `POST /api/files`.',
  })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: FORM })
  @ApiCreatedResponse({ type: UploadedView })
  @ApiProblem(400, 'The form or a name is malformed, or the body is incomplete.')
  @ApiProblem(413, 'A file exceeds FILE_LIMIT, or the caller has reached FILES_QUOTA.')
  @ApiProblem(429, 'Four uploads of the caller, or 48 of its tenant, are under way.')
  @ApiProblem(503, 'Files cannot be stored at the moment, or 64 uploads of all callers are under way.')
  async uploadFiles(
    @Body() body: Readable,
    @Call() { scope, baseUrl }: ApiCall,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UploadedView> {
    const caller = limitName(scope, raw.socket.remoteAddress);
    const upload = { owner: scope, caller, headers: raw.headers, body: body ?? raw, connection: raw.socket };
    try {
      const stored = await this.uploads.receiveUpload(upload);
      this.urls.noteBaseUrl(baseUrl);
      return { files: stored.map((it) => fileView(it, baseUrl)) };
    } catch (error) {
      setRetryAfter(error, reply);
      throw error;
    }
  }

  /**
   * Handles `POST /api/files` exactly as `POST /api/upload`: a second route, named after the resource that is created.
   */
  @Post('files')
  @StreamedBody()
  @ApiExcludeEndpoint()
  async createFiles(
    @Body() body: Readable,
    @Call() call: ApiCall,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UploadedView> {
    return this.uploadFiles(body, call, request, reply);
  }

  @Get('files')
  @ApiOperation({ summary: 'Lists the files of the caller, newest first.' })
  @ApiOkResponse({ type: FileListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listFiles(@Query() query: FileQuery, @Call() { scope, baseUrl }: ApiCall): Promise<FileListView> {
    this.urls.noteBaseUrl(baseUrl);
    const { pageSize, before, q: search } = query;
    const after = before && { createdAt: before.updatedAt, id: before.taskId };
    const page = { limit: pageSize + 1, ...(after && { before: after }), ...(search !== undefined && { search }) };
    const found = await this.files.listFiles(scope, page);
    const { page: files, nextPageToken } = cutPage(found, pageSize, ({ createdAt, id }) =>
      pageTokenAfter({ updatedAt: createdAt, taskId: id }),
    );
    return { files: files.map((it) => fileView(it, baseUrl)), nextPageToken };
  }

  // Declared before the GET, for which Fastify would add its own HEAD.
  @Head('files/:id')
  @ApiExcludeEndpoint()
  async describeFile(
    @Param('id') id: string,
    @Scope() owner: FileOwner,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.readFile(id, owner, request, reply);
  }

  @Get('files/:id')
  @ApiOperation({ summary: 'Reads a file; also with HEAD.' })
  @ApiHeader({ name: 'Range', required: false, description: 'One range of bytes.', example: 'bytes=0-1023' })
  @ApiOkResponse({ description: 'The content.', content: CONTENT })
  @ApiResponse({ status: 206, description: 'The range of the content.', content: CONTENT })
  @ApiResponse({ status: 304, description: 'The client has the content already (If-None-Match).' })
  @ApiProblem(404, 'file not found')
  @ApiProblem(416, 'The range is beyond the content.')
  async readFile(
    @Param('id') id: string,
    @Scope() owner: FileOwner,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await answerFile(this.contents, await this.requireFile(owner, id), request, reply);
  }

  @Delete('files/:id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a file that no Task names.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'file not found')
  @ApiProblem(409, 'Tasks of the caller refer to the file; it is kept as long as these Tasks.')
  async deleteFile(@Param('id') id: string, @Scope() owner: FileOwner): Promise<void> {
    if (!FILE_ID.test(id) || !(await this.contents.delete(owner, id))) throw unknownFile();
  }

  @Post('files/:id/urls')
  @ApiOperation({ summary: 'Creates an address that opens a file without a key for a limited time.' })
  @ApiBody({ type: FileUrlBody, required: false })
  @ApiCreatedResponse({ type: FileUrlView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'file not found')
  async createFileUrl(
    @Param('id') id: string,
    @Body() body: FileUrlBody,
    @Call() { scope, baseUrl }: ApiCall,
  ): Promise<FileUrlView> {
    const file = await this.requireFile(scope, id);
    const until = new Date(Math.floor((Date.now() + body.durationMs) / SECOND_MS) * SECOND_MS);
    return { url: this.addresses.signAddress(file, baseUrl, until), expiresAt: until.toISOString() };
  }

  private async requireFile(owner: FileOwner, id: string): Promise<StoredFile> {
    const file = FILE_ID.test(id) ? await this.files.get(owner, id) : undefined;
    if (!file) throw unknownFile();
    return file;
  }
}
