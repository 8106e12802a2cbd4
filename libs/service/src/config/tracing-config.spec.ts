import { ConfigError, loadConfig } from './load-config.js';

describe('the configuration of traces', () => {
  it('makes no spans unless it says where they go', () => {
    expect(loadConfig({ SERVICE_NAME: 'agents' }).tracing).toEqual({
      protocol: 'http/json',
      headers: {},
      serviceName: 'agents',
      sampler: 'parentbased_always_on',
      ratio: 1,
    });
  });

  it('is what OpenTelemetry says', () => {
    const { tracing } = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, X-Team=tea',
      OTEL_SERVICE_NAME: 'orders',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    });
    expect(tracing).toEqual({
      endpoint: 'http://collector:4318',
      protocol: 'http/protobuf',
      headers: { 'api-key': 'a b', 'x-team': 'tea' },
      serviceName: 'orders',
      sampler: 'parentbased_traceidratio',
      ratio: 0.1,
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'HTTP/JSON'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%0d%0ab'],
    ['OTEL_TRACES_SAMPLER', 'secret'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', '-1'],
  ])('refuses a bad %s, without its value', (name, value) => {
    const refused = (): unknown => loadConfig({ [name]: value });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(name);
    expect(refused).not.toThrow(value);
  });

  it('names the protocols that it knows where it refuses another one', () => {
    const refused = (): unknown => loadConfig({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(refused).toThrow('OTEL_EXPORTER_OTLP_PROTOCOL: must be one of http/json, http/protobuf');
  });
});
