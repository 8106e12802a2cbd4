import type { Schemas } from '#libs/client';
import { callApi } from './http.js';

/** A file that the service keeps. */
export type FileEntry = Schemas['FileView'];

/**
 * Stores files, all or none.
 * @returns the stored files in the same order
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function uploadFiles(files: readonly File[]): Promise<FileEntry[]> {
  const body = new FormData();
  for (const file of files) body.append('file', file, file.name);
  return (await callApi<Schemas['UploadedView']>('POST', '/api/upload', { body })).files;
}

/**
 * Makes the browser save a stored file, through an address that needs no API key.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function saveFile({ id, name }: FileEntry): Promise<void> {
  const { url } = await callApi<Schemas['FileUrlView']>('POST', `/api/files/${encodeURIComponent(id)}/urls`, {
    body: {},
  });
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
