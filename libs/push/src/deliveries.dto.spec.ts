import { ApiValidationPipe } from '#libs/http-server';
import { DeliveriesQuery, tokenAfter } from './deliveries.dto.js';

function read(query: Record<string, unknown>): DeliveriesQuery {
  return new ApiValidationPipe().transform(query, { type: 'query', metatype: DeliveriesQuery }) as DeliveriesQuery;
}

const POSITION = { createdAt: '1767268800123456', pushId: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11', sequence: 7 };

it('reads what is asked for', () => {
  expect(read({})).toEqual({ pageSize: 50 });
  expect(read({ taskId: 't', status: 'failed', pageSize: '100', other: 'x' })).toEqual({
    taskId: 't',
    status: 'failed',
    pageSize: 100,
  });
  expect(read({ status: '', pageSize: '', pageToken: '' })).toMatchObject({ pageSize: 50 });
  expect(read({ status: '', pageToken: '' })).toMatchObject({ status: undefined, before: undefined });
});

it('reads a token back', () => {
  expect(read({ pageToken: tokenAfter(POSITION) }).before).toEqual(POSITION);
});

it('refuses an id that no Task can have', () => {
  for (const taskId of ['a\u0000b', 'x'.repeat(513)]) expect(() => read({ taskId })).toThrow('taskId');
});

it.each([
  [{ status: 'odd' }, 'status'],
  [{ status: ['failed', 'pending'] }, 'status'],
  [{ pageSize: '0' }, 'pageSize'],
  [{ pageSize: '101' }, 'pageSize'],
  [{ pageSize: '1e1' }, 'pageSize'],
  [{ taskId: 'x'.repeat(513) }, 'taskId'],
  [{ taskId: ['a', 'b'] }, 'taskId'],
  [{ pageToken: 'x' }, 'pageToken'],
  [{ pageToken: Buffer.from('1.x.1').toString('base64url') }, 'pageToken'],
])('refuses %p', (query, field) => {
  expect(() => read(query)).toThrow(expect.objectContaining({ violations: [expect.objectContaining({ field })] }));
});
