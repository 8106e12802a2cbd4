import { agentTarget, pathAtHost } from './grpc-hosts.js';

const TARGET = '*.a2a.example.com:443';

describe('the host of an agent over gRPC', () => {
  it.each([
    ['', 'service'],
    ['conversations', 'conversations'],
    ['agents/weather', 'agents--weather'],
    ['agents/a--nodes--b', 'agents--a--nodes--b'],
    ['nodes/plan', 'nodes--plan'],
    ['workflows/trip', 'workflows--trip'],
    ['workflows/my_trip/nodes/plan-2', 'workflows--my_trip--nodes--plan-2'],
  ])('of the path %p has the label %p, both ways', (path, label) => {
    expect(agentTarget(TARGET, path)).toBe(`${label}.a2a.example.com:443`);
    expect(agentTarget(`https://${TARGET}`, path)).toBe(`https://${label}.a2a.example.com:443`);
    expect(pathAtHost(TARGET, `${label}.a2a.example.com:443`)).toBe(path);
    expect(pathAtHost(`https://${TARGET}`, `${label}.A2A.example.com`)).toBe(path);
  });

  it.each([
    ['workflows/Trip', 'an upper-case letter, which hosts do not tell apart'],
    ['workflows/trip/nodes/outer.inner', 'a dot'],
    ['workflows/a--nodes--b', 'the text between a workflow and its node'],
    ['agents/weather-', 'a hyphen at the end'],
    [`agents/${'x'.repeat(60)}`, 'more than 63 characters'],
  ])('of the path %p is that of the service: it has %s', (path) => {
    expect(agentTarget(TARGET, path)).toBe('service.a2a.example.com:443');
  });

  it.each(['127.0.0.1:50051', '[::1]:50051', 'a2a.example.com', '.a2a.example.com', 'agents--x.example.com:443', ''])(
    'is that of the service at %p, which is none of the wildcard',
    (authority) => {
      expect(pathAtHost(TARGET, authority)).toBe('');
    },
  );

  it('is that of the service where the target has no wildcard', () => {
    expect(agentTarget('grpc.example.com:443', 'agents/weather')).toBe('grpc.example.com:443');
    expect(pathAtHost('grpc.example.com:443', 'agents--weather.grpc.example.com:443')).toBe('');
    expect(pathAtHost(undefined, 'agents--weather.a2a.example.com')).toBe('');
  });

  it.each(['elsewhere', 'agents', 'agents--', 'agents--a.b', 'teams--x', 'conversations--x', 'agents--a%'])(
    'of the label %p is no agent',
    (label) => {
      expect(() => pathAtHost(TARGET, `${label}.a2a.example.com:443`)).toThrow(/"/);
    },
  );
});
