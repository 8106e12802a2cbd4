import { decodeErrorInfo, decodeStatus } from '@a2a-js/sdk/errors/grpc';
import { status } from '@grpc/grpc-js';
import { A2A_ERRORS, A2AError, type A2AErrorReason, invalidParams } from '#libs/protocol';
import { capturedLog } from '../testing/captured-log.js';
import { grpcError } from './grpc-status.js';

function detailsOf(error: unknown) {
  const reported = grpcError(error);
  const bytes = reported.metadata?.get('grpc-status-details-bin')[0] as Buffer;
  const { code, message, details } = decodeStatus(bytes);
  expect({ code, message }).toEqual({ code: reported.code, message: reported.details });
  return { code, message, details: details.map(({ typeUrl, value }) => ({ typeUrl, value: Buffer.from(value) })) };
}

describe('errors over gRPC', () => {
  it.each(Object.keys(A2A_ERRORS) as A2AErrorReason[])('%s has its status and an ErrorInfo', (reason) => {
    capturedLog();
    const { code, details } = detailsOf(new A2AError(reason, { metadata: { taskId: 't', empty: '' } }));
    expect(status[code]).toBe(A2A_ERRORS[reason].grpc);
    expect(details.map(({ typeUrl }) => typeUrl)).toEqual(['type.googleapis.com/google.rpc.ErrorInfo']);
    expect(decodeErrorInfo(details[0]?.value ?? Buffer.alloc(0))).toEqual({
      reason,
      domain: 'a2a-protocol.org',
      metadata: { taskId: 't', empty: '' },
    });
  });

  it('fields at fault are a BadRequest, as other implementations read it', () => {
    const { details } = detailsOf(invalidParams({ field: 'message.parts[0]', description: 'is bad' }));
    expect(details[1]?.typeUrl).toBe('type.googleapis.com/google.rpc.BadRequest');
    // Field 1, 26 bytes: field 1 (16 bytes) and field 2 (6 bytes).
    const violation = ['\n\x10message.parts[0]', '\x12\x06is bad'].join('');
    expect(details[1]?.value.toString('latin1')).toBe(`\n${String.fromCharCode(violation.length)}${violation}`);
  });

  it.each([
    [503, 'UNAVAILABLE'],
    [409, 'ALREADY_EXISTS'],
    [413, 'RESOURCE_EXHAUSTED'],
  ])('HTTP status %d is %s', (http, name) => {
    const error = new A2AError('INVALID_REQUEST', { status: http });
    expect(status[grpcError(error).code ?? 0]).toBe(name);
  });

  it('what passes has a reason of its own', () => {
    const { details } = detailsOf(new A2AError('INTERNAL', { status: 503 }));
    expect(decodeErrorInfo(details[0]?.value ?? Buffer.alloc(0))).toMatchObject({
      reason: 'UNAVAILABLE',
      domain: 'parley',
    });
  });

  it('is never longer than a trailer may be, and always text that gRPC can write', () => {
    const field = `message.${'\u{1F600}'.repeat(5_000)}`;
    const many = Array.from({ length: 20 }, () => ({ field, description: '\ud800 is half a character' }));
    const reported = grpcError(invalidParams(...many));
    expect(() => encodeURI(reported.details ?? '')).not.toThrow();
    const bytes = reported.metadata?.get('grpc-status-details-bin')[0] as Buffer;
    expect(bytes.length + encodeURI(reported.details ?? '').length).toBeLessThan(8_000);
    expect(detailsOf(invalidParams(...many)).details).toHaveLength(2);
  });

  it('shows nothing of what went wrong inside', () => {
    capturedLog();
    const reported = grpcError(new Error('password=hunter2'));
    expect(reported).toMatchObject({ code: status.INTERNAL, details: 'Internal error' });
    expect(JSON.stringify(detailsOf(new Error('password=hunter2')))).not.toContain('hunter2');
  });
});
