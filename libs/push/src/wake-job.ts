/** Name of the job that wakes the webhooks of Tasks with new events. The database enqueues it; its payload is empty. */
export const WAKE = 'push.wake';
