import { z } from 'zod';

/** Samplers of OpenTelemetry that this service supports. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** Supported encodings of OTLP over HTTP. */
const OTLP_PROTOCOLS = ['http/json', 'http/protobuf'] as const;

export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** Receiver of spans, their encoding and their sampling. */
export interface TracingConfig {
  /** Base URL of an OTLP/HTTP receiver; absent: no spans are recorded. */
  readonly endpoint?: string;
  readonly protocol: OtlpProtocol;
  /** Headers sent with every export. */
  readonly headers: Readonly<Record<string, string>>;
  /** Resource attribute `service.name` of the spans. */
  readonly serviceName: string;
  readonly sampler: SamplerName;
  /** Fraction of traces that the samplers `traceidratio` and `parentbased_traceidratio` record, from 0 to 1. */
  readonly ratio: number;
}

const ratio = z
  .string()
  .refine((text) => /^\d+(\.\d+)?$/.test(text) && Number(text) <= 1, 'must be a number from 0 to 1')
  .transform(Number);

const endpoint = z
  .string()
  .refine(isEndpoint, 'must be an http:// or https:// URL without query and user name')
  .transform((text) => text.replace(/(?<!\/)\/+$/, ''));

/** Schema of a header list: percent-encoded `name=value` pairs between commas, as OpenTelemetry defines it. */
const headers = z
  .string()
  .transform((text) => text.split(',').flatMap((pair) => pair.trim() || []))
  .refine((pairs) => pairs.every((pair) => readPair(pair)), 'must be a comma-separated list of name=value pairs')
  .transform((pairs) => Object.fromEntries(pairs.flatMap((pair) => [readPair(pair)!])));

export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(OTLP_PROTOCOLS, `must be one of ${OTLP_PROTOCOLS.join(', ')}`)
    .default('http/json'),
  OTEL_EXPORTER_OTLP_HEADERS: headers.default({}),
  OTEL_SERVICE_NAME: z.string().max(255, 'must have at most 255 characters').optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: ratio.default(1),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false'),
};

type TracingVariables = z.output<z.ZodObject<typeof TRACING_VARIABLES>>;

export function tracingOf(values: TracingVariables, serviceName: string): TracingConfig {
  return {
    ...(values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && { endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT }),
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: values.OTEL_SERVICE_NAME ?? serviceName,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && `${search}${hash}${username}${password}` === '';
}

function readPair(pair: string): [name: string, value: string] | undefined {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)$/.exec(pair) ?? [];
  if (name === undefined || value === undefined) return undefined;
  try {
    const decoded = decodeURIComponent(value);
    return /^[\x20-\x7e]*$/.test(decoded) ? [name.toLowerCase(), decoded] : undefined;
  } catch {
    return undefined;
  }
}
