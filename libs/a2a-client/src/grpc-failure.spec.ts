import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { GrpcHttpError, GrpcStatusError } from '#libs/http-client';
import { grpcFailure } from './grpc-failure.js';

function detail(type: string, value: Uint8Array): Uint8Array {
  return new BinaryWriter()
    .uint32(0x0a)
    .string(`type.googleapis.com/google.rpc.${type}`)
    .uint32(0x12)
    .bytes(value)
    .finish();
}

function statusBytes(...details: Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter().uint32(0x08).int32(2).uint32(0x12).string('text');
  for (const it of details) writer.uint32(0x1a).bytes(it);
  return writer.finish();
}

function errorInfo(reason: string, domain = 'a2a-protocol.org'): Uint8Array {
  return detail('ErrorInfo', new BinaryWriter().uint32(0x0a).string(reason).uint32(0x12).string(domain).finish());
}

function retryInfo(seconds: number, nanos: number): Uint8Array {
  const duration = new BinaryWriter().uint32(0x08).int64(seconds).uint32(0x10).int32(nanos).finish();
  return detail('RetryInfo', new BinaryWriter().uint32(0x0a).bytes(duration).finish());
}

function failureOf(status: number, text = 'said so', details?: Uint8Array, metadata = {}) {
  return grpcFailure(new GrpcStatusError(status, text, details, metadata), { sentBytes: 7 });
}

describe('grpcFailure', () => {
  it.each<[number, object]>([
    [1, { kind: 'server-error', code: 500, repeatable: true }],
    [2, { kind: 'rpc-error', code: -32603, repeatable: false }],
    [3, { kind: 'rpc-error', code: -32602, message: 'a2a error -32602: said so' }],
    [4, { kind: 'timeout', repeatable: true }],
    [5, { kind: 'not-found', code: -32001 }],
    [6, { kind: 'client-error', code: 409 }],
    [7, { kind: 'unauthorized', code: 403 }],
    [8, { kind: 'client-error', code: 429, rateLimited: true }],
    [9, { kind: 'rpc-error', code: -32004 }],
    [10, { kind: 'client-error', code: 409 }],
    [11, { kind: 'rpc-error', code: -32602 }],
    [12, { kind: 'rpc-error', code: -32601 }],
    [13, { kind: 'rpc-error', code: -32603 }],
    [14, { kind: 'server-error', code: 503, repeatable: true, message: 'gRPC UNAVAILABLE: said so' }],
    [15, { kind: 'rpc-error', code: -32603 }],
    [16, { kind: 'unauthorized', code: 401 }],
    [99, { kind: 'rpc-error', code: -32603 }],
  ])('status %d without details has the kind that it has over HTTP', (status, failure) => {
    expect(failureOf(status)).toMatchObject(failure);
  });

  it.each<[string, number, object]>([
    ['TASK_NOT_FOUND', 2, { kind: 'not-found', code: -32001 }],
    ['TASK_NOT_CANCELABLE', 9, { kind: 'rpc-error', code: -32002 }],
    ['CONTENT_TYPE_NOT_SUPPORTED', 3, { kind: 'rpc-error', code: -32005 }],
    ['VERSION_NOT_SUPPORTED', 9, { kind: 'rpc-error', code: -32009 }],
    ['RATE_LIMITED', 8, { kind: 'client-error', rateLimited: true }],
    ['UNAUTHENTICATED', 16, { kind: 'unauthorized', code: 401 }],
    ['SOMETHING_ELSE', 5, { kind: 'not-found', code: -32001 }],
  ])('the reason %s decides before the status %d', (reason, status, failure) => {
    expect(failureOf(status, 'x', statusBytes(errorInfo('OTHER', 'other.example'), errorInfo(reason)))).toMatchObject(
      failure,
    );
  });

  it.each<[number, Uint8Array | undefined, object, number | undefined]>([
    [8, statusBytes(retryInfo(2, 500_000_000)), {}, 2_500],
    [14, statusBytes(retryInfo(1, 0)), {}, 1_000],
    [8, undefined, { 'retry-after': '3' }, 3_000],
    [8, statusBytes(retryInfo(-5, 0)), {}, 0],
    [8, Buffer.from([0xff, 0xff, 0xff]), {}, undefined],
  ])('status %d with the details %j has the pause that the agent asks for', (status, details, metadata, retryAfter) => {
    expect(failureOf(status, 'slowly', details, metadata).retryAfter).toBe(retryAfter);
  });

  it('a Message that is too large for the agent is no rate limit', () => {
    const failure = failureOf(8, 'Received message larger than max (7 vs. 4)');
    expect(failure).toMatchObject({ kind: 'client-error', code: 413, rateLimited: false });
    expect(failure.message).toContain('7 bytes');
  });

  it.each<[number, object]>([
    [401, { kind: 'unauthorized', code: 401 }],
    [404, { kind: 'client-error', code: 404 }],
    [429, { rateLimited: true, retryAfter: 4_000 }],
    [502, { kind: 'server-error', repeatable: true }],
  ])('HTTP %d before the agent has the kind that it has over HTTP', (status, failure) => {
    expect(grpcFailure(new GrpcHttpError(status, '4'), {})).toMatchObject(failure);
  });
});
