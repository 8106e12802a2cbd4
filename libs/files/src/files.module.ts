import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutgoingFiles } from '#libs/a2a-client';
import { PartKeeper } from '#libs/executor';
import { OutboundHttp } from '#libs/outbound';
import { Database, ReplicaLife } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import { FileAddresses } from './file-addresses.js';
import { FileContents } from './file-contents.js';
import { FileRow } from './file-row.js';
import { FileStorage } from './file-storage.js';
import { FileStore } from './file-store.js';
import { FileUpkeepJob } from './file-upkeep-job.js';
import { FilesController } from './files.controller.js';
import { KeptParts } from './kept-parts.js';
import { openStorage } from './open-storage.js';
import { OwnFileUrls } from './own-file-urls.js';
import { OwnFiles } from './own-files.js';
import { SignedFilesController } from './signed-files.controller.js';
import { Uploads } from './uploads.js';
import { UploadSlots } from './upload-slots.js';

/** Provides files of callers and their storage. Needs the modules of the ground layer. */
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

/** Provides the management API of files, and their upkeep. Needs JobsModule and AccessModule. */
@Module({
  imports: [FilesModule],
  controllers: [FilesController, SignedFilesController],
  providers: [Uploads, UploadSlots, FileUpkeepJob],
})
export class FilesApiModule {}
