import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { OtlpJsonBody, type Span } from './otlp-body.js';
import { SpanExporter, type SpanOutcome } from './span-exporter.js';

const SPAN: Span = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  name: 'chat large',
  kind: 'client',
  begunAt: 1_000,
  endedAt: 1_002,
  attributes: {},
};

interface Body {
  resourceSpans: [{ resource: object; scopeSpans: [{ spans: Record<string, unknown>[] }] }];
}

const bodyOf = (sent: Uint8Array): Body => JSON.parse(Buffer.from(sent).toString()) as Body;

let warned: ReturnType<typeof jest.spyOn>;
beforeEach(() => {
  warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => warned.mockRestore());

function stage(...answers: (number | Error)[]) {
  const bodies: Body[] = [];
  const outcomes: Partial<Record<SpanOutcome, number>> = {};
  const send = async (body: Uint8Array): Promise<number> => {
    bodies.push(bodyOf(body));
    const answer = answers.shift() ?? 200;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const count = (outcome: SpanOutcome, spans: number): void => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + spans;
  };
  const exporter = new SpanExporter(send, () => new OtlpJsonBody({ 'service.name': 'tea' }), count, 1);
  const sent = (): number[] => bodies.map((body) => body.resourceSpans[0].scopeSpans[0].spans.length);
  return { exporter, bodies, outcomes, sent };
}

describe('SpanExporter', () => {
  it('sends what comes together in one request, and large numbers in several', async () => {
    const { exporter, outcomes, sent } = stage();
    exporter.add(Array.from({ length: 700 }, () => SPAN));
    exporter.add([SPAN]);
    await exporter.close();
    expect(sent()).toEqual([512, 189]);
    expect(outcomes).toEqual({ exported: 701 });
  });

  it('lets what comes while it sends wait for more', async () => {
    const bodies: Body[] = [];
    const answered = Promise.withResolvers<number>();
    const begun = Promise.withResolvers<void>();
    const send = (body: Uint8Array): Promise<number> => {
      bodies.push(bodyOf(body));
      begun.resolve();
      return bodies.length === 1 ? answered.promise : Promise.resolve(200);
    };
    const counted = Promise.withResolvers<void>();
    const exporter = new SpanExporter(
      send,
      () => new OtlpJsonBody({}),
      () => counted.resolve(),
      1,
    );
    exporter.add([SPAN]);
    await begun.promise;
    exporter.add([SPAN]);
    answered.resolve(200);
    await counted.promise;
    exporter.add([SPAN]);
    await exporter.close();
    expect(bodies.map((body) => body.resourceSpans[0].scopeSpans[0].spans.length)).toEqual([1, 2]);
  });

  it('drops what is too much, and what the receiver refuses, and complains once', async () => {
    const { exporter, outcomes, sent } = stage(400, 500);
    exporter.add(Array.from({ length: 9000 }, () => SPAN));
    await exporter.close();
    expect(sent()).toHaveLength(16);
    expect(outcomes).toEqual({ dropped: 808, refused: 1024, exported: 7168 });
    expect(warned).toHaveBeenCalledTimes(1);
  });

  it('tries nothing twice when the process ends', async () => {
    const { exporter, outcomes, sent } = stage(new Error('away'));
    exporter.add([SPAN]);
    await exporter.close();
    expect(sent()).toEqual([1]);
    expect(outcomes).toEqual({ dropped: 1 });
  });

  it('tries again what the receiver was too busy for', async () => {
    const { exporter, outcomes, sent } = stage(503);
    const done = new Promise<void>((resolve) => {
      Object.defineProperty(outcomes, 'exported', {
        set: () => {
          resolve();
        },
      });
    });
    exporter.add([SPAN]);
    await done;
    expect(sent()).toEqual([1, 1]);
  });
});
