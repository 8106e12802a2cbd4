import { ApiClosed, EachEntry, ProblemError } from '#libs/http';
import { hasUserinfo, isPlainText, LONGEST_URL, TOO_LONG_URL } from '#libs/protocol';
import { MCP_GLOB, MCP_SERVER_NAME } from '#libs/service';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, Matches, MaxLength, ValidateBy, ValidateIf } from 'class-validator';
import type { OwnServer } from '../servers/mcp-servers.js';

const MOST_GLOBS = 100;
const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** Server as callers send it. */
@ApiClosed()
export class McpServerBody {
  static readonly unknown = 'is not a field of an MCP server';

  @ApiProperty({ pattern: MCP_SERVER_NAME.source, example: 'github' })
  @Matches(MCP_SERVER_NAME, { message: NAME_RULE })
  name!: string;

  @ApiProperty({
    format: 'uri',
    maxLength: LONGEST_URL,
    example: 'https://mcp.example.com/v1',
    description: 'Where it speaks Streamable HTTP.',
  })
  @MaxLength(LONGEST_URL, { message: TOO_LONG_URL })
  @ValidateBy(
    { name: 'endpoint', validator: { validate: isEndpoint } },
    { message: 'must be an http or https URL without credentials or fragment' },
  )
  url!: string;

  @ApiPropertyOptional({
    pattern: MCP_SERVER_NAME.source,
    description: 'The name of the credential that calls carry.',
    example: 'partner',
  })
  @MayBeLeftOut()
  @Matches(MCP_SERVER_NAME, { message: 'must be the name of a credential' })
  auth?: string;

  @ToolGlobs('The tools that may be called, with `*` and `?`; left out: all.', ['search_*'])
  allow?: string[];

  @ToolGlobs('The tools that somebody is asked about before an agent calls them.', ['delete_*'])
  approve?: string[];

  /** Reads a sent body. Programs are rejected: only the operator may start them. @throws ProblemError 422 */
  static from(sent: object): McpServerBody {
    return Object.assign(new this(), withoutProgram(sent));
  }

  get server(): OwnServer {
    const { url, auth, allow, approve } = this;
    return {
      at: { url, ...(auth !== undefined && { auth }) },
      ...(allow !== undefined && { allow }),
      ...(approve !== undefined && { approve }),
    };
  }
}

/** Replacement of a server. Its name comes from the path; a name in the body is ignored. */
@ApiClosed()
export class McpReplacementBody extends McpServerBody {
  static override from(sent: object): McpServerBody {
    return super.from({ ...sent, name: 'named-by-its-path' });
  }
}

const OF_PROGRAMS = ['command', 'args', 'env', 'cwd'];
const ONLY_BY_FILE = 'programs are started only from the file that the operator names with MCP_SERVERS_FILE';

function withoutProgram(sent: object): object {
  const found = OF_PROGRAMS.filter((it) => it in sent);
  if (found.length === 0) return sent;
  const entries = found.map((path) => ({ path, detail: ONLY_BY_FILE }));
  throw new ProblemError(422, `${found[0]}: ${ONLY_BY_FILE}`, entries);
}

function ToolGlobs(description: string, example: string[]): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: [String], maxItems: MOST_GLOBS, description, example }),
    MayBeLeftOut(),
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(MOST_GLOBS, { message: `must have at most ${MOST_GLOBS} entries` }),
    EachEntry((it) => typeof it === 'string' && MCP_GLOB.test(it), 'must be a glob of tool names'),
  );
}

function MayBeLeftOut(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

function isEndpoint(value: unknown): boolean {
  if (typeof value !== 'string' || !isPlainText(value) || !URL.canParse(value) || hasUserinfo(value)) return false;
  const { protocol, hash } = new URL(value);
  return /^https?:$/.test(protocol) && hash === '';
}
