export { FILE_MIGRATIONS } from './file-migrations.js';
export { FilesApiModule } from './files.module.js';
