export { FILE_MIGRATIONS } from './file-migrations.js';
export { FilesApiModule, FilesModule } from './files.module.js';
export { OwnFiles } from './own-files.js';
