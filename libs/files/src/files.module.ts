import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { join } from 'node:path';
import { OutgoingFiles } from '#libs/a2a-client';
import { PartKeeper } from '#libs/agents';
import { OutboundHttp } from '#libs/http-client';
import { Database, installationTag, ReplicaLife } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import { FileAddresses } from './file-addresses.js';
import { FileContents } from './file-contents.js';
import { FileRow } from './file-statements.js';
import { FileStorage } from './file-storage.js';
import { FileStore } from './file-store.js';
import { FileUpkeepJob } from './file-upkeep-job.js';
import { FilesController } from './files.controller.js';
import { FolderStorage } from './folder-storage.js';
import { OwnFileUrls } from './own-file-urls.js';
import { KeptParts, OwnFiles } from './part-files.js';
import { S3Storage } from './s3-storage.js';
import { SignedFilesController } from './signed-files.controller.js';
import { Uploads, UploadSlots } from './uploads.js';

/** Opens the configured storage, and removes abandoned temporary files. */
async function openStorage(
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

/** Provides files of callers and their storage. Needs the global modules of the service. */
@Module({
  imports: [TypeOrmModule.forFeature([FileRow])],
  providers: [
    FileStore,
    FileContents,
    { provide: FileStorage, inject: [AppConfig, ReplicaLife, OutboundHttp, Database], useFactory: openStorage },
    { provide: FileAddresses, inject: [Database], useFactory: FileAddresses.openAddresses },
    OwnFileUrls,
    OwnFiles,
    { provide: OutgoingFiles, useExisting: OwnFiles },
    { provide: PartKeeper, useClass: KeptParts },
  ],
  exports: [FileStore, FileContents, FileAddresses, OwnFileUrls, OwnFiles, OutgoingFiles, PartKeeper],
})
export class FilesModule {}

/** Provides the management API of files, and the job that deletes expired ones. Needs JobsModule and AccessModule. */
@Module({
  imports: [FilesModule],
  controllers: [FilesController, SignedFilesController],
  providers: [Uploads, UploadSlots, FileUpkeepJob],
})
export class FilesApiModule {}
