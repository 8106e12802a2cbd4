export { enqueueForCallersFrom, enqueueFrom } from './enqueue-statement.js';
export { callerFlag, callerFlagSql, type Job, type JobContext, type JobHandler, PermanentJobError } from './job.js';
export { JOB_MIGRATIONS, migrateJobQueue } from './job-schema.js';
export { Jobs, ResealJob, scheduleUpkeep } from './jobs.js';
export { JobsModule } from './jobs.module.js';
