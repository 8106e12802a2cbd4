import { readDeliveriesQuery, tokenAfter } from './deliveries-query.js';

const POSITION = { createdAt: '1767268800123456', pushId: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11', sequence: 7 };

it('reads what is asked for', () => {
  expect(readDeliveriesQuery({})).toEqual({ pageSize: 50 });
  expect(readDeliveriesQuery({ taskId: 't', status: 'failed', pageSize: '100', other: 'x' })).toEqual({
    taskId: 't',
    status: 'failed',
    pageSize: 100,
  });
});

it('reads a token back', () => {
  expect(readDeliveriesQuery({ pageToken: tokenAfter(POSITION) }).before).toEqual(POSITION);
});

it('refuses an id that no Task can have', () => {
  for (const taskId of ['a\u0000b', 'x'.repeat(513)]) expect(() => readDeliveriesQuery({ taskId })).toThrow('taskId');
});

it.each([
  [{ status: 'odd' }, 'status'],
  [{ status: ['failed', 'pending'] }, 'status'],
  [{ pageSize: '0' }, 'pageSize'],
  [{ pageSize: '101' }, 'pageSize'],
  [{ pageSize: '1e1' }, 'pageSize'],
  [{ taskId: 'x'.repeat(513) }, 'taskId'],
  [{ pageToken: 'x' }, 'pageToken'],
  [{ pageToken: Buffer.from('1.x.1').toString('base64url') }, 'pageToken'],
])('refuses %p', (query, field) => {
  expect(() => readDeliveriesQuery(query)).toThrow(
    expect.objectContaining({ violations: [expect.objectContaining({ field })] }),
  );
});
