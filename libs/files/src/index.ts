export { FILE_MIGRATIONS } from './file-migrations.js';
export { ContentTooLong, ContentUnavailable, type FileStorage } from './file-storage.js';
export { FilesApiModule, FilesModule } from './files.module.js';
export { FolderStorage } from './folder-storage.js';
export { OwnFiles } from './part-files.js';
export { S3Storage } from './s3-storage.js';
