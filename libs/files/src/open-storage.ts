import { join } from 'node:path';
import type { OutboundHttp } from '#libs/outbound';
import { type Database, installationTag, type ReplicaLife } from '#libs/postgres';
import type { AppConfig } from '#libs/service';
import type { FileStorage } from './file-storage.js';
import { FolderStorage } from './folder-storage.js';
import { S3Storage } from './s3/s3-storage.js';

/** Opens the configured storage, and removes abandoned temporary files. */
export async function openStorage(
  { files, dataDir }: AppConfig,
  replica: ReplicaLife,
  http: OutboundHttp,
  database: Database,
): Promise<FileStorage> {
  const folder = join(dataDir, 'files');
  const storage =
    files.s3 === undefined
      ? new FolderStorage({
          folder,
          isShared: files.isFolderShared,
          isDurable: files.isFolderDurable,
          peers: () => replica.livingPeers(),
        })
      : // The operator named the server: it may be in a private network.
        new S3Storage({
          ...files.s3,
          folder,
          place: await installationTag(database.pool),
          http: http.trustingFetch(files.s3.endpoint),
        });
  await storage.removeAbandoned();
  return storage;
}
