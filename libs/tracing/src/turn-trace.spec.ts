import { ownTraceId, readTraceContext } from '#libs/service';
import { OwnTrace, PassedTrace, spanIdOf, turnKey, UnsampledTrace } from './turn-trace.js';

const TRACE = 'a'.repeat(32);

describe('OwnTrace', () => {
  it('names a call the same in every turn, and what models and tools do by the turn', () => {
    const [first, second] = [new OwnTrace('t', TRACE, 1), new OwnTrace('t', TRACE, 5)];
    expect(first.spanIdOf('call', 'm')).toBe(second.spanIdOf('call', 'm'));
    expect(first.spanIdOf('chat', 1, 'large')).not.toBe(second.spanIdOf('chat', 1, 'large'));
    expect(first.spanIdOf('chat', 1, 'large')).toBe(new OwnTrace('t', TRACE, 1).spanIdOf('chat', 1, 'large'));
    expect([first.spanId, second.spanId]).toEqual([spanIdOf('t', turnKey(1)), spanIdOf('t', turnKey(5))]);
  });

  it('has the calls below their spans, in the headers that they carry', () => {
    const trace = new OwnTrace('t', TRACE, 1, 'caller', 'v=1');
    const { traceparent, tracestate } = trace.headersBelow('call', 'm');
    expect(readTraceContext(traceparent, tracestate)).toEqual(trace.contextBelow('call', 'm'));
    expect(trace.contextBelow('call', 'm')).toMatchObject({
      spanId: trace.spanIdOf('call', 'm'),
      sampled: true,
      state: 'v=1',
    });
  });
});

describe('UnsampledTrace', () => {
  it('says that it is not sampled, and thinks up no ids', () => {
    const trace = new UnsampledTrace('task-1', {
      traceId: TRACE,
      spanId: 'b'.repeat(16),
      sampled: false,
      state: 'v=1',
    });
    expect(trace.headersBelow()).toEqual({ traceparent: `00-${TRACE}-0000000000000001-00`, tracestate: 'v=1' });
    expect(readTraceContext(trace.headersBelow()['traceparent'], 'v=1')).toEqual(trace.contextBelow());
    expect(trace.spanIdOf()).toBe(trace.spanId);
  });

  it('is of the trace of its Task where nobody called', () => {
    const trace = new UnsampledTrace('task-1');
    expect(trace.headersBelow()).toEqual({ traceparent: `00-${ownTraceId('task-1')}-0000000000000001-00` });
  });
});

describe('PassedTrace', () => {
  it('hands on what came, and makes no spans', () => {
    const inbound = { traceId: TRACE, spanId: 'b'.repeat(16), sampled: true, state: 'v=1' };
    const trace = new PassedTrace(inbound);
    expect(trace.contextBelow()).toEqual(inbound);
    expect(trace.headersBelow()).toEqual({ traceparent: `00-${TRACE}-${'b'.repeat(16)}-01`, tracestate: 'v=1' });
    expect(trace.sampled).toBe(false);
  });
});
