import type { Schemas } from '#libs/client';
import type { Rows } from '../api/use-pages.js';
import { callApi, getJson } from '../api/http.js';

export type Schedule = Schemas['ScheduleView'];
/** Time of a schedule, and what came of it. */
export type Firing = Schemas['ScheduleFiringView'];

/** Members of a schedule that decide when it fires. */
export type Timing = Partial<Pick<Schedule, 'cron' | 'timeZone' | 'every' | 'at' | 'startAt' | 'endAt' | 'jitter'>>;

/** Lists the schedules of the tenant by name; a tenant has at most 500, which are one page. */
export async function listSchedules(signal: AbortSignal): Promise<Schedule[]> {
  return (await getJson<Schemas['ScheduleListView']>('/api/schedules', signal)).schedules;
}

export function getSchedule(name: string, signal: AbortSignal): Promise<Schedule> {
  return getJson(pathOf(name), signal);
}

/** Returns the next ten times of a schedule that is not saved yet. */
export async function previewTimes(timing: Timing): Promise<string[]> {
  return (await callApi<Schemas['NextTimesView']>('POST', '/api/schedules/times', { body: timing })).nextTimes;
}

/**
 * Creates a schedule, or replaces the one with this name.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function storeSchedule(name: string | undefined, body: object): Promise<Schedule> {
  return name === undefined ? callApi('POST', '/api/schedules', { body }) : callApi('PUT', pathOf(name), { body });
}

/** Pauses a schedule. Times that come meanwhile are not taken later. */
export function pauseSchedule(name: string): Promise<Schedule> {
  return callApi('POST', `${pathOf(name)}/pause`, { body: {} });
}

export function resumeSchedule(name: string): Promise<Schedule> {
  return callApi('POST', `${pathOf(name)}/resume`);
}

/** Starts a run now, also if the schedule is paused. */
export function runSchedule(name: string): Promise<Schemas['RequestedRunView']> {
  return callApi('POST', `${pathOf(name)}/run`);
}

/** Deletes a schedule with its history; its runs stay. */
export function deleteSchedule(name: string): Promise<void> {
  return callApi('DELETE', pathOf(name));
}

/** Fetches one page of the history of a schedule, the newest first. */
export async function getFirings(name: string, token: string | undefined, signal: AbortSignal): Promise<Rows<Firing>> {
  const query = token === undefined ? '' : `?pageToken=${encodeURIComponent(token)}`;
  const { firings, nextPageToken } = await getJson<Schemas['ScheduleFiringListView']>(
    `${pathOf(name)}/firings${query}`,
    signal,
  );
  return { rows: firings, nextPageToken };
}

function pathOf(name: string): string {
  return `/api/schedules/${encodeURIComponent(name)}`;
}
