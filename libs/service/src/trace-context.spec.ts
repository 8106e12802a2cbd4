import { inboundTrace, ownTraceId, readTraceContext, taskTraceId, traceHeaders } from './trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${SPAN}-01`;

describe('readTraceContext', () => {
  it.each([
    ['a sampled one', SAMPLED, { sampled: true }],
    ['one that is not sampled', `00-${TRACE}-${SPAN}-00`, { sampled: false }],
    ['other flags', `00-${TRACE}-${SPAN}-03`, { sampled: true }],
    ['a version to come, with more behind it', `cc-${TRACE}-${SPAN}-01-what-the-future-holds`, { sampled: true }],
  ])('reads %s', (_what, traceparent, read) => {
    expect(readTraceContext(traceparent)).toEqual({ traceId: TRACE, spanId: SPAN, ...read });
  });

  it.each([
    ['nothing', undefined],
    ['no text', 7],
    ['two of them', `${SAMPLED}, ${SAMPLED}`],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with more behind it', `${SAMPLED}-x`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['capital letters', SAMPLED.toUpperCase()],
    ['a short id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a line break', `${SAMPLED}\n`],
  ])('reads nothing in %s', (_what, traceparent) => {
    expect(readTraceContext(traceparent)).toBeUndefined();
  });

  it('takes the state along, in one header or in several, unless it is none', () => {
    expect(readTraceContext(SAMPLED, 'a=1,b=2')?.state).toBe('a=1,b=2');
    expect(readTraceContext(SAMPLED, ['a=1', 'b=2'])?.state).toBe('a=1,b=2');
    expect(readTraceContext(SAMPLED, 'a=1\nx: y')?.state).toBeUndefined();
    expect(readTraceContext(SAMPLED, 'a'.repeat(513))?.state).toBeUndefined();
  });

  it('is written as it was read', () => {
    expect(traceHeaders(readTraceContext(SAMPLED, 'a=1')!)).toEqual({ traceparent: SAMPLED, tracestate: 'a=1' });
    expect(traceHeaders(readTraceContext(SAMPLED)!)).toEqual({ traceparent: SAMPLED });
  });
});

describe('the trace of a request and of a Task', () => {
  it('tells a request without a trace from one whose trace cannot be read', () => {
    expect(inboundTrace({})).toBeUndefined();
    expect(inboundTrace({ traceparent: 'x' })).toBeNull();
    expect(inboundTrace({ traceparent: SAMPLED, tracestate: 'a=1' })).toMatchObject({ traceId: TRACE, state: 'a=1' });
  });

  it('follows from the id of a Task that no traced call made', () => {
    const taskId = '01935c7b-8f2a-7c3d-9e4f-0123456789ab';
    expect(taskTraceId(taskId)).toBe(taskId.replaceAll('-', ''));
    expect(taskTraceId(taskId, { traceparent: SAMPLED })).toBe(TRACE);
    expect(ownTraceId('task-0123456789abcdef')).toMatch(/^[0-9a-f]{32}$/);
  });
});
