import { readTraceContext } from '#libs/service';
import { OwnTrace, PassedTrace, spanIdOf, turnKey } from './turn-trace.js';

const TRACE = 'a'.repeat(32);

describe('OwnTrace', () => {
  it('names a call the same in every turn, and what models and tools do by the turn', () => {
    const [first, second] = [new OwnTrace('t', TRACE, true, 1), new OwnTrace('t', TRACE, true, 5)];
    expect(first.spanIdOf('call', 'm')).toBe(second.spanIdOf('call', 'm'));
    expect(first.spanIdOf('chat', 1, 'large')).not.toBe(second.spanIdOf('chat', 1, 'large'));
    expect(first.spanIdOf('chat', 1, 'large')).toBe(new OwnTrace('t', TRACE, true, 1).spanIdOf('chat', 1, 'large'));
    expect([first.spanId, second.spanId]).toEqual([spanIdOf('t', turnKey(1)), spanIdOf('t', turnKey(5))]);
  });

  it('has the calls below their spans, in the headers that they carry', () => {
    const trace = new OwnTrace('t', TRACE, true, 1, 'caller', 'v=1');
    const { traceparent, tracestate } = trace.headers('call', 'm');
    expect(readTraceContext(traceparent, tracestate)).toEqual(trace.context('call', 'm'));
    expect(trace.context('call', 'm')).toMatchObject({
      spanId: trace.spanIdOf('call', 'm'),
      sampled: true,
      state: 'v=1',
    });
  });

  it('says of what is not sampled that it is not, and thinks up no ids', () => {
    const trace = new OwnTrace('t', TRACE, false, 1);
    expect(trace.headers('call', 'm')).toEqual({ traceparent: `00-${TRACE}-0000000000000001-00` });
    expect(readTraceContext(trace.headers('call', 'm')['traceparent'])).toBeDefined();
  });
});

describe('PassedTrace', () => {
  it('hands on what came, and makes no spans', () => {
    const inbound = { traceId: TRACE, spanId: 'b'.repeat(16), sampled: true, state: 'v=1' };
    const trace = new PassedTrace(inbound);
    expect(trace.context()).toEqual(inbound);
    expect(trace.headers()).toEqual({ traceparent: `00-${TRACE}-${'b'.repeat(16)}-01`, tracestate: 'v=1' });
    expect(trace.sampled).toBe(false);
  });
});
