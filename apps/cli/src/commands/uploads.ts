import { constants, openAsBlob } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Schemas } from '#libs/client';
import type { Command } from 'commander';
import { exampleText } from '../examples.js';
import { CommandError } from '../exit-code.js';
import type { Session } from '../session.js';

type UploadedFile = Schemas['FileView'];
type FileList = Schemas['FileListView'];

/** Maximum files of one upload. */
const MOST_FILES = 20;

/** Adds the commands `upload` and `files`, for files that Messages refer to by their URLs. */
export function addUploadCommands(program: Command, session: Session): void {
  program
    .command('upload')
    .argument('<file...>', 'at most 20 files')
    .description('store files, all or none, and print their URLs for use in Messages')
    .addHelpText('after', exampleText('parley upload report.pdf chart.png'))
    .action((paths: string[]) => uploadFiles(session, paths));
  program
    .command('files')
    .argument('[text]', 'part of their names')
    .description('list own files, newest first')
    .option('-n, --limit <count>', 'maximum number of files', '20')
    .addHelpText('after', exampleText('parley files report'))
    .action((text: string | undefined, { limit }: { limit: string }) => listFiles(session, text, limit));
}

async function uploadFiles({ client, terminal, signal }: Session, paths: readonly string[]): Promise<void> {
  if (paths.length > MOST_FILES) throw new CommandError(`an upload has at most ${MOST_FILES} files`);
  const body = new FormData();
  for (const path of paths) body.append('file', await openFile(path), basename(path));
  const { files } = await client.call<FileList>('/api/upload', { method: 'POST', body, signal });
  terminal.writeResult(files, () => files.map(({ url }) => terminal.stripControls(url)).join('\n'));
}

/** Opens a file of any size; its contents are read while they are sent. @throws CommandError if it cannot be read */
async function openFile(path: string): Promise<Blob> {
  try {
    await access(path, constants.R_OK);
    if ((await stat(path)).isFile()) return await openAsBlob(path, { type: mediaTypeOf(path) });
  } catch {
    // Reported below, like a path that is not a file.
  }
  throw new CommandError(`${path}: cannot be read as a file`);
}

/** Media types by file extension. The service treats any other file as bytes. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** Returns the media type of a file's extension; '' if it is unknown. */
function mediaTypeOf(path: string): string {
  return MEDIA_TYPES[extname(path).slice(1).toLowerCase()] ?? '';
}

async function listFiles(
  { client, terminal, signal }: Session,
  text: string | undefined,
  limit: string,
): Promise<void> {
  const most = Number(limit);
  if (!/^\d{1,4}$/.test(limit) || most < 1) throw new CommandError('--limit must be a whole number from 1 to 9999');
  const files: UploadedFile[] = [];
  for (let pageToken = ''; ;) {
    const query = { q: text, pageSize: Math.min(most - files.length, LARGEST_PAGE), pageToken: pageToken || undefined };
    const page = await client.call<FileList>('/api/files', { query, signal });
    files.push(...page.files);
    pageToken = page.nextPageToken;
    if (pageToken === '' || files.length >= most) break;
  }
  terminal.writeResult(files, () =>
    files.length === 0
      ? `There are no ${text === undefined ? '' : 'such '}files.`
      : terminal.formatTable(
          ['NAME', 'BYTES', 'TYPE', 'URL'],
          files.map(({ name, size, mediaType, url }) => [name, String(size), mediaType, url]),
        ),
  );
}

const LARGEST_PAGE = 100;
