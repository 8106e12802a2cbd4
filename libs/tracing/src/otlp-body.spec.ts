import { readOtlpProtobuf } from '../../../test/support/otlp-protobuf.js';
import { type Attributes, OtlpJsonBody, OtlpProtobufBody, type Span } from './otlp-body.js';

const RESOURCE = { 'service.name': 'tea' };
const ROOT: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: '00f067aa0ba902b7',
  name: 'chat large',
  kind: 'internal',
  begunAt: 1_000,
  endedAt: 1_002,
  attributes: {},
};
const FULL: Span = {
  ...ROOT,
  parentSpanId: 'b7ad6b7169203331',
  state: 'v=1',
  kind: 'client',
  attributes: { text: 't', whole: 3, part: 0.5, yes: true },
  error: 'timeout',
  link: { traceId: 'd'.repeat(32), spanId: 'e'.repeat(16) },
};

const json = (spans: readonly Span[], resource: Attributes = RESOURCE): unknown => {
  const body = new OtlpJsonBody(resource);
  for (const span of spans) body.add(span);
  return JSON.parse(Buffer.from(body.finishBody()).toString());
};

const protobuf = (spans: readonly Span[], resource: Attributes = RESOURCE): unknown => {
  const body = new OtlpProtobufBody(resource);
  for (const span of spans) body.add(span);
  return readOtlpProtobuf(body.finishBody());
};

/** Drops members that the binary encoding leaves out because they are empty. */
const withoutEmpty = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, it: unknown) => (/^(\[\]|\{\})$/.test(JSON.stringify(it) ?? '') ? undefined : it)),
  );

describe('the body of an export', () => {
  it('has a span with its resource, ids in hex and 64-bit numbers as texts in JSON', () => {
    expect(json([FULL])).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'tea' } }] },
          scopeSpans: [
            {
              scope: { name: 'parley' },
              spans: [
                {
                  traceId: FULL.traceId,
                  spanId: FULL.spanId,
                  parentSpanId: FULL.parentSpanId,
                  traceState: 'v=1',
                  name: 'chat large',
                  kind: 3,
                  startTimeUnixNano: '1000000000',
                  endTimeUnixNano: '1002000000',
                  attributes: [
                    { key: 'text', value: { stringValue: 't' } },
                    { key: 'whole', value: { intValue: '3' } },
                    { key: 'part', value: { doubleValue: 0.5 } },
                    { key: 'yes', value: { boolValue: true } },
                    { key: 'error.type', value: { stringValue: 'timeout' } },
                  ],
                  links: [FULL.link],
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it.each<[what: string, spans: Span[]]>([
    ['no span', []],
    ['a span with every member', [FULL]],
    ['a span with none that may be absent', [ROOT]],
    ['spans of every kind', (['internal', 'server', 'client'] as const).map((kind) => ({ ...ROOT, kind }))],
    ['a span that ended before it began', [{ ...ROOT, endedAt: 1 }]],
    ['times of this century', [{ ...ROOT, begunAt: 1_795_869_000_123, endedAt: 1_795_869_000_123.7 }]],
    ['texts that are empty, long, quoted and in any script', [{ ...FULL, name: '"\\\n', error: '😀é'.repeat(9_000) }]],
    ['an empty text', [{ ...FULL, attributes: { empty: '' } }]],
    ['half a character', [{ ...FULL, attributes: { half: 'a\ud83d' } }]],
    ['numbers of all sizes', [{ ...FULL, attributes: { a: 0, b: -1, c: 2 ** 53, d: -(2 ** 52), e: 1e300, f: 1e-9 } }]],
    ['a whole batch', Array.from({ length: 512 }, (_, index) => ({ ...FULL, name: `chat ${index}` }))],
  ])('carries the same in both encodings: %s', (_what, spans) => {
    expect(withoutEmpty(protobuf(spans))).toEqual(withoutEmpty(wellFormed(json(spans))));
  });

  it('counts its spans in both encodings', () => {
    for (const body of [new OtlpJsonBody({}), new OtlpProtobufBody({})]) {
      body.add(ROOT);
      body.add(FULL);
      expect(body.size).toBe(2);
    }
  });
});

/** Replaces lone surrogates (halves of characters) in texts, because UTF-8 cannot encode them. */
function wellFormed(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, it: unknown) => (typeof it === 'string' ? it.toWellFormed() : it)),
  ) as unknown;
}
