import { InFlight, Metrics } from '#libs/service';
import { ArrivingBody } from './body-admission.js';

const KIB = 1024;
const LARGEST = 800 * KIB;
const ANN = { tenant: '', owner: 'ann' };

function inFlight(inFlightBytes: number): InFlight {
  return new InFlight({ memory: { inFlightBytes, callerInFlightBytes: inFlightBytes } } as never, new Metrics());
}

function entered(it: InFlight): ArrivingBody {
  const body = ArrivingBody.admitBody(it, ANN, LARGEST);
  if (typeof body === 'string') throw new Error(`Refused: ${body}`);
  return body;
}

describe('ArrivingBody', () => {
  it('counts as small until it turns out not to be, then as the largest there may be', () => {
    const it = inFlight(10_000 * KIB);
    const body = entered(it);
    expect([body.acceptBytes(64 * KIB), it.total]).toEqual([undefined, 64 * KIB]);
    expect([body.acceptBytes(1), it.total]).toEqual([undefined, LARGEST]);
    expect([body.acceptBytes(500 * KIB), it.total]).toEqual([undefined, LARGEST]);
    body.releaseBytes();
    body.releaseBytes();
    expect(it.total).toBe(0);
  });

  it('lets one of those that come together go on', () => {
    const it = inFlight(8_000 * KIB);
    const bodies = Array.from({ length: 3 }, () => entered(it));
    expect(bodies.map((body) => body.acceptBytes(65 * KIB))).toEqual([undefined, 'caller', 'caller']);
    for (const body of bodies) body.releaseBytes();
    expect(it.total).toBe(0);
  });

  it('counts as what it is once nothing more comes', () => {
    const it = inFlight(8_000 * KIB);
    const [empty, large] = [entered(it), entered(it)];
    empty.completeBody();
    expect(it.total).toBe(64 * KIB);
    large.acceptBytes(70 * KIB);
    large.completeBody();
    expect(it.total).toBe(70 * KIB);
    empty.releaseBytes();
    large.releaseBytes();
    expect(it.total).toBe(0);
  });

  it('goes on alone, whatever the limit', () => {
    const it = inFlight(10 * KIB);
    expect(entered(it).acceptBytes(700 * KIB)).toBeUndefined();
    expect(ArrivingBody.admitBody(it, ANN, LARGEST)).toBe('caller');
  });

  it('counts nothing any more once it is over', () => {
    const it = inFlight(8_000 * KIB);
    const body = entered(it);
    body.releaseBytes();
    expect([body.acceptBytes(700 * KIB), it.total]).toEqual([undefined, 0]);
  });
});
