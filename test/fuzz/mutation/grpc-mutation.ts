import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import type { JsonValue } from '#libs/protocol';
import type { SeededRandom } from '../../support/seeded-random.js';
import { mutatedBytes, noise } from './byte-mutation.js';
import { textOf } from './odd-values.js';

interface Codec {
  fromJSON(json: unknown): unknown;
}

const REQUESTS: Readonly<Record<string, Codec>> = {
  SendMessage: sdk.SendMessageRequest,
  SendStreamingMessage: sdk.SendMessageRequest,
  GetTask: sdk.GetTaskRequest,
  ListTasks: sdk.ListTasksRequest,
  CancelTask: sdk.CancelTaskRequest,
  SubscribeToTask: sdk.SubscribeToTaskRequest,
  CreateTaskPushNotificationConfig: sdk.TaskPushNotificationConfig,
  GetTaskPushNotificationConfig: sdk.GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigs: sdk.ListTaskPushNotificationConfigsRequest,
  DeleteTaskPushNotificationConfig: sdk.DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCard: sdk.GetExtendedAgentCardRequest,
};

/** Returns the frames of a request, valid or not. Only valid frames must be answered. */
export function grpcBytes(
  operation: string,
  json: JsonValue | undefined,
  random: SeededRandom,
): { bytes: Buffer; owed: boolean } {
  const message = encoded(operation, json) ?? noise(random);
  const bytes = random.between(0, 2) === 0 ? mutatedBytes(message, random) : message;
  switch (random.between(0, 11)) {
    case 0:
      return { bytes: frame(bytes, random.between(0, 2 ** 31), 0), owed: false };
    case 1:
      return { bytes: frame(bytes, bytes.length, 1), owed: false };
    case 2:
      return { bytes: Buffer.concat([frame(bytes, bytes.length, 0), frame(bytes, bytes.length, 0)]), owed: false };
    case 3:
      return { bytes: mutatedBytes(frame(bytes, bytes.length, 0), random), owed: false };
    default:
      return { bytes: frame(bytes, bytes.length, 0), owed: true };
  }
}

const ODD_METADATA: [string, string][] = [
  ['a2a-version', '0.3'],
  ['a2a-version', '99'],
  ['a2a-extensions', ',,,'],
  ['idempotency-key', 'x'.repeat(300)],
  ['grpc-timeout', '1n'],
  ['grpc-timeout', 'nope'],
  ['grpc-timeout', '99999999H'],
  ['grpc-encoding', 'gzip'],
  ['grpc-encoding', 'nope'],
  ['grpc-accept-encoding', 'nope'],
  ['content-type', 'application/grpc+json'],
  ['content-type', 'text/plain'],
  ['odd-bin', '!!!not base64'],
  ['authorization', 'Bearer nobodys'],
  ['x-api-key', ''],
  ['x-long', 'y'.repeat(5000)],
];

/** Returns the headers of the HTTP/2 request. */
export function grpcHeaders(
  given: Record<string, string>,
  operation: string,
  random: SeededRandom,
): Record<string, string> {
  const name = `${operation[0]?.toLowerCase()}${operation.slice(1)}` as keyof typeof A2AService;
  const odd = random.between(0, 3) === 0 ? Object.fromEntries([random.pick(ODD_METADATA)]) : {};
  const path = random.between(0, 49) === 0 ? '/lf.a2a.v1.A2AService/Nothing' : A2AService[name].path;
  return { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...given, ...odd };
}

/** Encodes a request; returns `undefined` if the SDK cannot encode it. */
function encoded(operation: string, json: JsonValue | undefined): Buffer | undefined {
  const name = `${operation[0]?.toLowerCase()}${operation.slice(1)}` as keyof typeof A2AService;
  try {
    const value = (REQUESTS[operation] as Codec).fromJSON(JSON.parse(textOf(json ?? {})));
    return (A2AService[name].requestSerialize as (value: unknown) => Buffer)(value);
  } catch {
    return undefined;
  }
}

function frame(message: Buffer, length: number, compressed: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed, 0);
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, message]);
}
