export { JOB_MIGRATIONS, migrateJobQueue } from './job-schema.js';
export { Jobs, JobsModule, ResealJob, scheduleUpkeep } from './jobs.js';
