export { enqueueForCallersFrom, enqueueFrom } from './enqueue-statement.js';
export { type Job, type JobContext, type JobHandler, PermanentJobError } from './job.js';
export { callerFlag, callerFlagSql } from './job-caller.js';
export { JOB_MIGRATIONS } from './job-migrations.js';
export { migrateJobQueue } from './job-schema.js';
export { Jobs } from './jobs.js';
export { JobsModule } from './jobs.module.js';
