import { Body, Controller, HttpCode, Injectable, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { IsBoolean, IsObject, IsString, MaxLength, MinLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { Caller, sendTrial, TrialSlots } from '#libs/access';
import { ANY_JSON, ApiClosed, ApiProblem, IfGiven, ProblemError } from '#libs/http-server';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { MCP_SERVER_NAME, Metrics, Shutdown } from '#libs/service';
import { McpServerTools } from '../mcp-server-tools.js';
import { McpServerError, type McpTool } from '../mcp-tools.js';
import { McpServers } from '../servers/mcp-servers.js';

/** Time limit of a call, in milliseconds. */
const LONGEST_CALL_MS = 60_000;

/** Maximum length of a tool's name, in characters. */
const LONGEST_TOOL_NAME = 256;

/** Call of a tool as callers send it. */
@ApiClosed()
class McpToolCallBody {
  static readonly unknown = 'is not a member of a call';

  @ApiProperty({ minLength: 1, maxLength: LONGEST_TOOL_NAME, description: 'Name at the server.', example: 'search' })
  @IsString({ message: 'must be a string' })
  @MinLength(1, { message: 'must not be empty' })
  @MaxLength(LONGEST_TOOL_NAME, { message: `must have at most ${LONGEST_TOOL_NAME} characters` })
  tool!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Arguments, which the server checks; default: none.',
    example: { query: 'Parley' },
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  args?: JsonObject;

  @ApiPropertyOptional({
    description: 'True if a person has confirmed the call of a tool that may change something.',
    default: false,
  })
  @IfGiven()
  @IsBoolean({ message: 'must be true or false' })
  confirmed?: boolean;
}

/** Result of a call, as callers see it. */
class McpToolCallView {
  @ApiProperty({ description: 'True if the tool returned a result.' })
  ok!: boolean;

  @ApiProperty({ type: 'integer', description: 'Milliseconds until the result or the error.', example: 87 })
  latencyMs!: number;

  @ApiPropertyOptional({
    ...ANY_JSON,
    description: 'Untrusted result: the structured content, else the text, else the content blocks of MCP.',
    example: 'three pages',
  })
  result?: JsonValue;

  @ApiPropertyOptional({
    description: 'Error of the tool, or the reason why it could not be called.',
    example: 'HTTP 500',
  })
  error?: string;

  @ApiPropertyOptional({ description: 'True if the result has more than 256 KiB.' })
  truncated?: boolean;
}

/** Limits the concurrent calls of tools by people, and their rate (see TrialSlots). */
@Injectable()
export class McpToolCallSlots extends TrialSlots {
  constructor(metrics: Metrics) {
    super(metrics, { plural: 'calls of tools', limit: 'tool-calls', metric: 'parley_mcp_tool_calls' });
  }
}

/** Calls tools of MCP servers for people who set the servers up, outside of any Task. */
@ApiTags('mcp-servers')
@Controller('api/mcp-servers')
export class McpToolCallController {
  constructor(
    private readonly servers: McpServers,
    private readonly tools: McpServerTools,
    private readonly slots: McpToolCallSlots,
    private readonly shutdown: Shutdown,
  ) {}

  @Post(':name/call')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Calls a tool of an MCP server once.',
    description:
      'A tool without `readOnlyHint` needs `confirmed`. Tools that agents may not call are refused. The call takes at ' +
      'most 60 seconds and is not repeated. An error of the tool is a result (200) with `ok: false`.',
  })
  @ApiOkResponse({ type: McpToolCallView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'MCP server not found')
  @ApiProblem(409, 'The tool may change something, and the call is not confirmed (`CONFIRMATION_REQUIRED`).')
  @ApiProblem(422, 'The server has no such tool, or the tool may not be called.')
  @ApiProblem(429, 'The caller has two calls under way, its tenant four, or twenty in the last minute.')
  @ApiProblem(503, 'Too many calls are under way at this replica, or the replica is shutting down.')
  async callTool(
    @Param('name') name: string,
    @Body() body: McpToolCallBody,
    @Caller() caller: Caller,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const server = MCP_SERVER_NAME.test(name) ? await this.servers.get(caller.tenant, name) : undefined;
    if (!server) throw new ProblemError(404, 'MCP server not found');
    await sendTrial(this.slots, { caller, reply, stopped: this.shutdown.started }, (signal) =>
      this.callInTime(name, body, { caller, signal }),
    );
  }

  private async callInTime(
    server: string,
    body: McpToolCallBody,
    { caller, signal }: { caller: Caller; signal: AbortSignal },
  ): Promise<McpToolCallView> {
    const timer = AbortSignal.timeout(LONGEST_CALL_MS);
    const began = performance.now();
    const since = (): number => Math.round(performance.now() - began);
    const options = { tenant: caller.tenant, owner: caller.owner, signal: AbortSignal.any([signal, timer]) };
    try {
      const tool = await this.findTool(`${server}/${body.tool}`, options);
      assertConfirmed(tool, body);
      const result = await this.tools.callMcpTool(tool.name, body.args ?? {}, options);
      if ('result' in result) return { ok: true, latencyMs: since(), ...result };
      const { error, truncated } = result;
      return { ok: false, latencyMs: since(), error, ...(truncated && { truncated }) };
    } catch (error) {
      if (error instanceof McpServerError) return { ok: false, latencyMs: since(), error: error.message };
      if (signal.aborted || !timer.aborted) throw error;
      return { ok: false, latencyMs: since(), error: `timeout: no result within ${LONGEST_CALL_MS / 1000} seconds` };
    }
  }

  /** Finds a tool that may be called. @throws ProblemError 422 */
  private async findTool(name: string, options: { tenant: string; signal: AbortSignal }): Promise<McpTool> {
    const tool = (await this.tools.findMcpTools([name], options)).find((it) => it.name === name);
    if (tool) return tool;
    const detail = 'is not a tool of this server that may be called';
    throw new ProblemError(422, `tool ${detail}`, [{ path: 'tool', detail }]);
  }
}

/** Refuses a call that may change something, unless a person has confirmed it. @throws ProblemError 409 */
function assertConfirmed({ name, readOnly }: McpTool, { confirmed = false }: McpToolCallBody): void {
  if (readOnly || confirmed) return;
  throw new ProblemError(
    409,
    `"${name}" may change something: confirm the call`,
    [{ path: 'confirmed', detail: 'must be true for a tool that may change something' }],
    'CONFIRMATION_REQUIRED',
  );
}
