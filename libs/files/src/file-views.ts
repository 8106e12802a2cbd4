import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { StoredFile } from './stored-file.js';

/** File as its owner sees it. */
export class FileView {
  @ApiProperty({ example: '019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41' })
  id!: string;

  @ApiProperty({ example: 'report.pdf' })
  name!: string;

  @ApiProperty({ example: 'application/pdf' })
  mediaType!: string;

  @ApiProperty({ type: 'integer', description: 'Bytes.', example: 48_213 })
  size!: number;

  @ApiProperty({
    description: 'Digest of the content, hexadecimal.',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  sha256!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'When the file may be deleted (FILE_RETENTION).' })
  expiresAt?: string;

  @ApiProperty({
    format: 'uri',
    description: 'Where its owner reads it; also the `url` of a Part.',
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
 * Returns a file as its owner sees it. @param baseUrl base URL of this service for the caller, without a trailing slash
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
