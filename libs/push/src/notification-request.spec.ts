import { notificationHeaders, notificationId, notificationOf, readNotificationId } from './notification-request.js';
import type { DueConfig } from './push-queues.js';
import type { PushSecrets } from './push-secrets.js';

const PUSH_ID = '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11';
const CONFIG: DueConfig = {
  pushId: PUSH_ID,
  turn: 1,
  taskId: 't',
  configId: 'c',
  sealed: null,
  tenant: '',
  owner: '',
  url: 'http://hook.test/',
  token: null,
  scheme: null,
  credentials: null,
  wireVersion: '1.0',
  deliveredSequence: 0,
  attempts: 0,
};
const EVENT = { taskId: 't', sequence: 7, json: '{"task":{}}', event: { task: {} } } as never;
const ID = `${PUSH_ID}.7`;

function headers({ scheme, ...secrets }: { scheme?: string } & PushSecrets): Record<string, string> {
  return notificationHeaders({ scheme: scheme ?? null }, secrets, notificationOf(CONFIG, EVENT));
}

it('is the event as it was recorded, under an id of its own', () => {
  expect(notificationOf(CONFIG, EVENT)).toEqual({ id: ID, body: '{"task":{}}', contentType: 'application/a2a+json' });
  expect(headers({})).toEqual({ 'content-type': 'application/a2a+json', 'x-a2a-notification-id': ID });
});

it('is what 0.3 sends for a config of 0.3', () => {
  const notification = notificationOf({ ...CONFIG, wireVersion: '0.3' }, EVENT, '{"kind":"task"}');
  expect(notification).toEqual({ id: ID, body: '{"kind":"task"}', contentType: 'application/json' });
});

it.each([
  ['Bearer', 'abc', 'Bearer abc'],
  ['Basic', 'user:pass', 'Basic dXNlcjpwYXNz'],
  ['basic', 'dXNlcjpwYXNz', 'basic dXNlcjpwYXNz'],
  ['Digest', 'username="a:b"', 'Digest username="a:b"'],
])('carries the credentials of %s %s', (scheme, credentials, authorization) => {
  expect(headers({ scheme, credentials })).toMatchObject({ authorization });
});

it('carries no Authorization for a scheme without credentials', () => {
  expect(headers({ scheme: 'Bearer' })).not.toHaveProperty('authorization');
});

it('carries the token beside the credentials', () => {
  const both = headers({ token: 'tok', scheme: 'Bearer', credentials: 'abc' });
  expect(both).toMatchObject({ 'x-a2a-notification-token': 'tok', authorization: 'Bearer abc' });
});

it('is found again by its id', () => {
  expect(readNotificationId(notificationId(PUSH_ID, 7))).toEqual({ pushId: PUSH_ID, sequence: 7 });
  for (const id of ['', 'x', PUSH_ID, `${PUSH_ID}.`, `${PUSH_ID}.-1`, `${PUSH_ID}.9999999999`]) {
    expect(readNotificationId(id)).toBeUndefined();
  }
});
