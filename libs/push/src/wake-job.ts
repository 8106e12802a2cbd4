/** The job that wakes the webhooks of Tasks with new events. The database enqueues it; its payload says nothing. */
export const WAKE = 'push.wake';
