/** Example request bodies for the API documentation, for the workflow `greeting` of its other examples. */

const INPUTS = { name: 'Ada' };

export const TIMES_EXAMPLES = {
  'on working days at half past seven': { value: { cron: '30 7 * * mon-fri', timeZone: 'Europe/Berlin' } },
  'every quarter of an hour': { value: { every: '15m' } },
  once: { value: { at: '2099-01-31T09:30:00Z' } },
};

export const SCHEDULE_EXAMPLES = {
  'on working days': {
    value: {
      name: 'morning-report',
      workflow: 'greeting',
      inputs: INPUTS,
      ...{ cron: '30 7 * * mon-fri', timeZone: 'Europe/Berlin', pauseAfterFailures: 3 },
    },
  },
  'at an interval': {
    value: { name: 'watch', workflow: 'greeting', inputs: INPUTS, every: '15m', overlap: 'queue-one', jitter: '30s' },
  },
};

export const REPLACEMENT_EXAMPLES = {
  once: { value: { workflow: 'greeting', inputs: INPUTS, at: '2099-01-31T09:30:00Z' } },
};
