import { ExecutionInterrupted } from '#libs/agents';
import { publicError } from './public-error.js';

describe('publicError', () => {
  it('says of a Message that was not kept before its Task went on elsewhere that it may be sent again', () => {
    const { reason, status, detailReason, message } = publicError(new ExecutionInterrupted('Task t is elsewhere'));
    expect([reason, status, detailReason]).toEqual(['INTERNAL', 503, 'TASK_CHANGED_HANDS']);
    expect(message).toMatch(/try again later/);
  });

  it('tells nothing of a fault of ours', () => {
    const { status, message } = publicError(new Error('a secret'));
    expect([status, message]).toEqual([500, 'Internal error']);
  });
});
