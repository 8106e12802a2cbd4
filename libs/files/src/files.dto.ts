import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { ApiClosed, IfGiven, malformedRequest, PageQuery, QueryText, withMembers } from '#libs/http-server';
import type { FileProof } from './file-addresses.js';
import type { StoredFile } from './stored-file.js';

const LONGEST_SEARCH = 255;

/** Query parameters that filter and page the list of files. */
export class FileQuery extends PageQuery {
  @QueryText((text) => text.length <= LONGEST_SEARCH, `must have at most ${LONGEST_SEARCH} characters`, {
    description: 'Files whose names contain this text, in any case.',
    example: 'report',
  })
  q?: string;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^([1-9]\d{0,5})([smh])$/;
const DEFAULT = '15m';
const MOST_MS = 24 * 3_600_000;
const DETAIL = 'must be a duration such as 30s, 15m or 2h, at most 24h';

/** Body of a request for a signed address: how long the address is valid. */
@ApiClosed()
export class FileUrlBody {
  static readonly optional = true;
  static readonly unknown: string = 'is not a field of this request';

  @ApiPropertyOptional({
    pattern: DURATION.source,
    default: DEFAULT,
    description: 'Time for which the address is valid, at most 24 hours.',
    example: '2h',
  })
  @IfGiven()
  @Matches(DURATION, { message: DETAIL })
  @IsString({ message: DETAIL })
  expiresIn?: string;

  static from(sent: object): FileUrlBody {
    return withMembers(FileUrlBody, sent);
  }

  /** Duration in milliseconds. @throws ProblemError 400 above 24 hours */
  get durationMs(): number {
    const [, count, unit] = DURATION.exec(this.expiresIn ?? DEFAULT) ?? [];
    const ms = Number(count) * UNITS[unit!]!;
    if (ms > MOST_MS) throw malformedRequest({ path: 'expiresIn', detail: DETAIL });
    return ms;
  }
}

/**
 * Maximum characters of a signature in a request. This is more than a valid signature has, so that a valid signature
 * with characters added to it is refused as wrong (403), not as malformed (400).
 */
const LONGEST_SIGNATURE = 200;

/** Query parameters of a signed address: expiry and signature. */
export class FileProofQuery {
  @QueryText((text) => /^\d{1,12}$/.test(text), 'must be a Unix time in seconds', {
    required: true,
    description: 'Unix time in seconds until which the address is valid.',
    example: '1790000000',
  })
  expires!: string;

  @QueryText((text) => text.length <= LONGEST_SIGNATURE, 'must be the signature of the address', {
    required: true,
    description: 'Signature of the address.',
    example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  })
  signature!: string;

  get proof(): FileProof {
    return { expires: Number(this.expires), signature: this.signature };
  }
}

/** File as its owner sees it. */
export class FileView {
  @ApiProperty({ example: '019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41' })
  id!: string;

  @ApiProperty({ example: 'report.pdf' })
  name!: string;

  @ApiProperty({ example: 'application/pdf' })
  mediaType!: string;

  @ApiProperty({ type: 'integer', description: 'Size in bytes.', example: 48_213 })
  size!: number;

  @ApiProperty({
    description: 'Digest of the content, hexadecimal.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  sha256!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Time from which the file may be deleted (FILE_RETENTION).',
  })
  expiresAt?: string;

  @ApiProperty({
    format: 'uri',
    description: 'Address at which the owner reads the file; also the `url` of a Part.',
    example: 'https://parley.example.com/api/files/019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41',
  })
  url!: string;
}

/** Files of one upload, in their order. */
export class UploadedView {
  @ApiProperty({ type: [FileView] })
  files!: FileView[];
}

export class FileListView {
  @ApiProperty({ type: [FileView] })
  files!: FileView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

/** Address that opens a file without a key. */
export class FileUrlView {
  @ApiProperty({
    format: 'uri',
    example: 'https://parley.example.com/files/019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41?expires=1790000000&signature=n4bQ',
  })
  url!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;
}

/**
 * Returns a file as its owner sees it.
 * @param baseUrl base URL of this service for the caller, without a trailing slash
 */
export function fileView(file: StoredFile, baseUrl: string): FileView {
  const { id, name, mediaType, size, sha256, createdAt, expiresAt } = file;
  return {
    id,
    name,
    mediaType,
    size,
    sha256,
    createdAt: createdAt.toISOString(),
    ...(expiresAt !== undefined && { expiresAt: expiresAt.toISOString() }),
    url: `${baseUrl}/api/files/${id}`,
  };
}
