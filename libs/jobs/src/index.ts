export {
  callerFlag,
  callerFlagSql,
  type CronEntry,
  ENQUEUE,
  enqueueForCallersFrom,
  enqueueFrom,
  enqueueValues,
  type Job,
  type JobContext,
  type JobHandler,
  type JobPurpose,
  PermanentJobError,
} from './job.js';
