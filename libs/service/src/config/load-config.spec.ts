import fc from 'fast-check';
import { resolve } from 'node:path';
import { DEFAULT_CONTENT_LIMITS } from './content-limits.js';
import { ConfigError, type Environment, loadConfig } from './load-config.js';

describe('loadConfig', () => {
  it('has a default for everything', () => {
    expect({ ...loadConfig({}) }).toEqual({
      port: 3000,
      host: '127.0.0.1',
      dataDir: resolve('./.data'),
      trustedProxies: [],
      allowedHosts: [],
      nodeDispatch: 'local',
      plugins: [],
      auth: { mode: 'none', keys: [] },
      credentialsKeys: [],
      outboundAllow: [],
      llm: { inputModes: [] },
      cards: { signing: true, signatures: 'warn', trustedKeys: [], changes: 'warn', maxAgeMs: 60_000 },
      mcp: { servers: [], changes: 'warn' },
      bodyLimit: 4_194_304,
      limits: { rate: undefined, concurrency: undefined, streams: undefined },
      subscriptionLimit: 32,
      memory: {
        inFlightBytes: expect.any(Number),
        callerInFlightBytes: expect.any(Number),
        eventBytes: 64 * 1024 ** 2,
        journalBatchBytes: 32 * 1024 ** 2,
        answerBytes: expect.any(Number),
        journalStallMs: 15_000,
        nodesAtWork: 128,
      },
      files: { fileBytes: 100 * 1024 ** 2, ownerBytes: 10 * 1024 ** 3, isFolderShared: false, isFolderDurable: true },
      content: DEFAULT_CONTENT_LIMITS,
      tracing: {
        protocol: 'http/json',
        headers: {},
        serviceName: 'parley',
        sampler: 'parentbased_always_on',
        ratio: 1,
      },
      prompts: { kept: true, inSpans: false },
      requestTimeoutMs: 120_000,
      shutdownGraceMs: 20_000,
      logLevel: 'info',
      metricsWorkflows: true,
      operatorTenant: '',
      corsOrigins: [],
      serviceName: 'parley',
      serviceDescription: expect.any(String),
    });
  });

  it('reads what is given; an empty variable counts as unset', () => {
    const config = loadConfig({
      PORT: '0',
      HOST: '',
      GRPC_PORT: '50051',
      GRPC_PUBLIC_URL: '*.grpc.example.com:443',
      DATABASE_URL: 'postgresql://u:p@db/parley',
      PUBLIC_URL: 'https://agents.example.com/base/',
      TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      INTERNAL_URL: 'http://balancer:8080/',
      NODE_DISPATCH: 'http',
      PARLEY_PLUGINS: '/etc/parley/a.mjs, /etc/parley/b.ts',
      OUTBOUND_ALLOW: 'agents.internal,192.168.0.0/16',
      AGENT_BINDINGS: 'GRPC, HTTP+JSON',
      LLM_BASE_URL: 'http://localhost:11434/v1',
      LLM_API_KEY_ENV: 'MY_KEY',
      MY_KEY: 'k',
      LLM_MODEL: 'm',
      PROMPT_LOG: 'off',
      PROMPT_REDACT: 'ACME-\\d+',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      CARD_SIGNING: 'off',
      CARD_SIGNATURES: 'require',
      CARD_TRUSTED_KEYS: 'https://keys.example/a.json, https://keys.example/b.json',
      CARD_CHANGE_POLICY: 'block',
      CARD_MAX_AGE: '5m',
      BODY_LIMIT: '1.5mb',
      LLM_INPUT_MODES: 'image/*, audio/wav',
      LLM_TEMPERATURE: '0',
      LLM_TOP_P: '0.9',
      LLM_STOP: 'END, STOP',
      LLM_MAX_TOKENS: '2000',
      LLM_WAIT: '10m',
      LLM_TOOL_CALLS: 'schema',
      RATE_LIMIT: '6000/m',
      CONCURRENCY_LIMIT: '20',
      STREAM_LIMIT: 'off',
      REQUEST_TIMEOUT: '30',
      SHUTDOWN_GRACE: '500ms',
      TASK_RETENTION: '30d',
      CALLER_DAILY_BUDGET: '0.5',
      CARD_RETENTION: '365d',
      CREDENTIALS_KEY: `${Buffer.alloc(32, 1).toString('base64')}, ${Buffer.alloc(32, 255).toString('base64url')}`,
      CORS_ORIGINS: 'https://a.example,http://localhost:5173',
    });
    expect(config).toMatchObject({
      port: 0,
      host: '127.0.0.1',
      grpcPort: 50_051,
      grpcPublicUrl: '*.grpc.example.com:443',
      publicUrl: 'https://agents.example.com/base',
      trustedProxies: ['10.0.0.0/8', '::1'],
      internalUrl: 'http://balancer:8080',
      nodeDispatch: 'http',
      plugins: ['/etc/parley/a.mjs', '/etc/parley/b.ts'],
      outboundAllow: ['agents.internal', '192.168.0.0/16'],
      agentBindings: ['GRPC', 'HTTP+JSON'],
      llm: {
        baseUrl: 'http://localhost:11434/v1',
        apiKey: 'k',
        model: 'm',
        inputModes: ['image/*', 'audio/wav'],
        defaults: {
          temperature: 0,
          topP: 0.9,
          stop: ['END', 'STOP'],
          maxTokens: 2_000,
          waitSeconds: 600,
          toolCalls: 'schema',
        },
      },
      cards: {
        signing: false,
        signatures: 'require',
        trustedKeys: ['https://keys.example/a.json', 'https://keys.example/b.json'],
        changes: 'block',
        retentionMs: 31_536_000_000,
        maxAgeMs: 300_000,
      },
      prompts: { kept: false, redact: 'ACME-\\d+', inSpans: true },
      bodyLimit: 1_572_864,
      limits: { rate: { requests: 6000, perMs: 60_000 }, concurrency: 20, streams: undefined },
      requestTimeoutMs: 30_000,
      shutdownGraceMs: 500,
      taskRetentionMs: 2_592_000_000,
      credentialsKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 255)],
      corsOrigins: ['https://a.example', 'http://localhost:5173'],
    });
  });

  it('takes none for the address of gRPC in cards', () => {
    expect(loadConfig({ GRPC_PUBLIC_URL: 'none' }).grpcPublicUrl).toBe('none');
  });

  it.each<[string, string]>([
    ['PORT', '70000'],
    ['PORT', '-1'],
    ['HOST', 'not a host'],
    ['HOST', '300.1.1.1'],
    ['GRPC_PORT', 'x'],
    ['GRPC_PUBLIC_URL', 'grpc.example.com'],
    ['GRPC_PUBLIC_URL', 'ftp://grpc.example.com:21'],
    ['GRPC_PUBLIC_URL', 'user:secret@grpc.example.com:443'],
    ['GRPC_PUBLIC_URL', 'secret.*.example.com:443'],
    ['GRPC_PUBLIC_URL', '*:443'],
    ['INTERNAL_URL', 'http://user:secret@balancer:8080'],
    ['LLM_BASE_URL', 'http://user:secret@localhost:11434/v1'],
    ['CARD_TRUSTED_KEYS', 'https://user:secret@example.com/jwks.json'],
    ['DATABASE_URL', 'mysql://secret@db/x'],
    ['DATABASE_URL', 'postgres://u:secret@db/x?require_auth=md5'],
    ['PUBLIC_URL', 'ftp://secret.example'],
    ['PUBLIC_URL', 'https://user:secret@example.com'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'proxy.secret'],
    ['INTERNAL_URL', 'secret'],
    ['NODE_DISPATCH', 'secret'],
    ['PARLEY_PLUGINS', '/etc/secret'],
    ['OUTBOUND_ALLOW', 'http://secret.example'],
    ['AGENT_BINDINGS', 'JSONRPC,secret'],
    ['LLM_BASE_URL', 'secret'],
    ['LLM_API_KEY_ENV', 'SECRET_NOT_SET'],
    ['LLM_TEMPERATURE', '2.1'],
    ['LLM_TOP_P', '1.01'],
    ['LLM_STOP', 'a,,b'],
    ['LLM_MAX_TOKENS', '1000001'],
    ['LLM_WAIT', '61m'],
    ['LLM_WAIT', '999ms'],
    ['LLM_TOOL_CALLS', 'grammar'],
    ['PROMPT_LOG', 'secret'],
    ['PROMPT_REDACT', '(secret'],
    ['PROMPT_REDACT', '(secret)?'],
    ['PROMPT_REDACT', '(?=secret)x'],
    ['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'secret'],
    ['CARD_SIGNING', 'secret'],
    ['CARD_SIGNATURES', 'secret'],
    ['CARD_TRUSTED_KEYS', 'https://keys.example/a.json,secret'],
    ['CARD_CHANGE_POLICY', 'secret'],
    ['CARD_MAX_AGE', '2d'],
    ['CARD_MAX_AGE', 'secret'],
    ['BODY_LIMIT', '0kb'],
    ['BODY_LIMIT', 'secret'],
    ['RATE_LIMIT', '0/h'],
    ['RATE_LIMIT', '10/day'],
    ['CONCURRENCY_LIMIT', '0'],
    ['STREAM_LIMIT', '-1'],
    ['SUBSCRIPTION_LIMIT', '7'],
    ['SUBSCRIPTION_LIMIT', 'off'],
    ['SUBSCRIPTION_LIMIT', '1001'],
    ['REQUEST_TIMEOUT', '10ms'],
    ['SHUTDOWN_GRACE', '2 weeks'],
    ['TASK_RETENTION', '0s'],
    ['CALLER_DAILY_BUDGET', '-1'],
    ['TENANT_DAILY_BUDGET', '1e3'],
    ['TASK_RETENTION', 'for ever'],
    ['TASK_RETENTION', '36501d'],
    ['CARD_RETENTION', '23h'],
    ['CARD_RETENTION', '99999999999d'],
    ['LOG_LEVEL', 'secret'],
    ['CORS_ORIGINS', 'https://secret.example/path'],
    ['SERVICE_NAME', 'x'.repeat(101)],
    ['AUTH_MODE', 'secret'],
  ])('refuses a bad %s in one line that does not print it', (key, value) => {
    const lines = linesFor({ [key]: value });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^${key}: \\S`));
    expect(lines[0]).not.toContain(value);
  });

  it('tells every bad key at once', () => {
    expect(linesFor({ PORT: 'x', BODY_LIMIT: 'y', AUTH_MODE: 'x' }).map((line) => line.split(':')[0])).toEqual([
      'PORT',
      'BODY_LIMIT',
      'AUTH_MODE',
    ]);
  });

  it('never prints a value, whatever it is', () => {
    const keys = [
      'PORT',
      'DATABASE_URL',
      'PUBLIC_URL',
      'TRUSTED_PROXIES',
      'BODY_LIMIT',
      'LOG_LEVEL',
      'AUTH_MODE',
      'LLM_API_KEY_ENV',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.stringMatching(/^[a-z]{8}§[a-z]{8}$/), (key, value) => {
        expect(linesFor({ [key]: value }).join('\n')).not.toContain(value);
      }),
    );
  });
});

describe('AUTH_MODE', () => {
  const KEY = 'k'.repeat(32);

  it('api-key brings callers and their keys', () => {
    const env = { HOST: '0.0.0.0', AUTH_MODE: 'api-key', AUTH_API_KEYS: `ann:${KEY}, bob@example.com:${KEY}x==` };
    expect(loadConfig(env).auth).toEqual({
      mode: 'api-key',
      keys: [
        { name: 'ann', key: KEY },
        { name: 'bob@example.com', key: `${KEY}x==` },
      ],
    });
    expect(loadConfig({ AUTH_MODE: 'api-key' }).auth.keys).toEqual([]);
  });

  it.each([
    ['short-secret', 'ann:short-secret'],
    ['no colon', KEY],
    ['no name', `:${KEY}`],
    ['a bad name', `a n n:${KEY}`],
    ['a bad character', `ann:${KEY}:agents`],
    ['too long a key', `ann:${'k'.repeat(513)}`],
    ['one key of two callers', `ann:${KEY},bob:${KEY}`],
  ])('api-key refuses %s in one line that does not print it', (_what, keys) => {
    const lines = linesFor({ AUTH_MODE: 'api-key', AUTH_API_KEYS: keys });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^AUTH_API_KEYS: /);
    expect(lines[0]).not.toMatch(/kkkk|short-secret/);
  });

  const JWT = {
    AUTH_MODE: 'jwt',
    AUTH_JWT_JWKS_URL: 'https://id.example/keys?p=1',
    AUTH_JWT_ISSUER: 'https://id.example/',
    AUTH_JWT_AUDIENCE: 'parley, other',
  };

  it('jwt names the provider, and trusts no signature that a caller could make', () => {
    const { jwt } = loadConfig(JWT).auth;
    expect(jwt).toMatchObject({
      jwksUrl: 'https://id.example/keys?p=1',
      issuer: 'https://id.example/',
      audience: ['parley', 'other'],
      clockToleranceMs: 30_000,
      ownerClaim: 'sub',
      scopeClaim: 'scope',
    });
    expect(jwt?.algorithms.filter((it) => /^(HS|none)/.test(it))).toEqual([]);
    expect(linesFor({ AUTH_MODE: 'jwt' }).map((line) => line.split(':')[0])).toEqual([
      'AUTH_JWT_JWKS_URL',
      'AUTH_JWT_ISSUER',
      'AUTH_JWT_AUDIENCE',
    ]);
  });

  it.each([
    ['AUTH_JWT_JWKS_URL', 'ftp://secret'],
    ['AUTH_JWT_AUDIENCE', ' , '],
    ['AUTH_JWT_ALGORITHMS', 'RS256,none'],
    ['AUTH_JWT_ALGORITHMS', 'HS256'],
    ['AUTH_JWT_CLOCK_TOLERANCE', '1h'],
  ])('jwt refuses a bad %s', (key, value) => {
    const lines = linesFor({ ...JWT, [key]: value });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^${key}: `));
    expect(lines[0]).not.toContain(value);
  });

  it.each<[Environment, boolean]>([
    [{}, true],
    [{ HOST: 'localhost' }, true],
    [{ HOST: '::1', AUTH_MODE: 'none' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '0.0.0.0', AUTH_MODE: 'none' }, false],
    [{ HOST: '::', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'yes' }, false],
    [{ HOST: '0.0.0.0', AUTH_ALLOW_ANONYMOUS: 'true' }, false],
    [{ HOST: '0.0.0.0', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'true' }, true],
  ])('an open door must be asked for: %p starts: %p', (env, starts) => {
    expect(linesFor(env)).toHaveLength(starts ? 0 : 1);
  });
});

describe('the limits', () => {
  it('are set where callers have names, and asked for where they have none', () => {
    expect(loadConfig({}).limits).toEqual({});
    expect(loadConfig({ AUTH_MODE: 'api-key' }).limits).toEqual({ concurrency: 1_000, streams: 1_000 });
    expect(loadConfig({ RATE_LIMIT: '5', STREAM_LIMIT: '3' }).limits).toEqual({
      rate: { requests: 5, perMs: 1000 },
      streams: 3,
    });
    expect(loadConfig({ AUTH_MODE: 'api-key', CONCURRENCY_LIMIT: 'off', STREAM_LIMIT: 'off' }).limits).toEqual({});
  });
});

function linesFor(env: Environment): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).lines;
  }
}
