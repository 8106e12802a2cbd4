export { findScheduleProblems } from './api/schedule-kind.js';
export { SchedulesModule } from './schedules.module.js';
export { SCHEDULE_MIGRATIONS } from './storage/schedule-tables.js';
