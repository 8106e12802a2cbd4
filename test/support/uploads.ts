import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { TestDatabase } from './postgres.js';
import { until } from './until.js';

/** Uploaded file, as the answer to its upload describes it. */
export interface SentFile {
  id: string;
  name: string;
  mediaType: string;
  size: number;
  sha256: string;
  url: string;
  createdAt: string;
  expiresAt?: string;
}

/** Returns the SHA-256 digest of a content, as files have it. */
export const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Creates a form that uploads files. */
export function formOf(...files: [name: string, content: Buffer, type?: string][]): FormData {
  const form = new FormData();
  for (const [name, content, type = 'application/octet-stream'] of files)
    form.append('file', new Blob([content], { type }), name);
  return form;
}

/** Starts an upload that sends its first 300,000 bytes and then stops. */
export function openUpload(url: string, key: string, length: number): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = `POST /api/upload HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n`;
  socket.write(`${head}content-type: video/mp4\r\ncontent-length: ${length}\r\n\r\n`);
  socket.write(randomBytes(300_000));
  return socket;
}

/** Makes the upkeep job of files due now. */
export async function startUpkeep({ query }: Pick<TestDatabase, 'query'>): Promise<void> {
  await query(
    `SELECT graphile_worker.add_job('files.upkeep', queue_name => 'files.upkeep', job_key => 'files.upkeep')`,
  );
}

/** Runs the upkeep job of files to its end. */
export async function endUpkeep(database: Pick<TestDatabase, 'query'>): Promise<void> {
  await startUpkeep(database);
  const jobs = "SELECT FROM graphile_worker.jobs WHERE task_identifier = 'files.upkeep' AND run_at <= now()";
  await until(async () => (await database.query(jobs)).length === 0, { what: 'the upkeep' });
}
