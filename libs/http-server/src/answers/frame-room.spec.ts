import { InFlight, LoopShares, Metrics, WorkTurns } from '#libs/service';
import { FrameRoom } from './frame-room.js';

const ANN = { tenant: '', owner: 'ann' };
const BOB = { tenant: '', owner: 'bob' };

describe('FrameRoom', () => {
  it('charges a caller with the time that its large frames take, and nobody else', async () => {
    const clock = { ms: 0 };
    const shares = new LoopShares(
      new Metrics(),
      () => clock.ms,
      () => true,
    );
    const room = new FrameRoom({ memory: { answerBytes: 1_000 } } as never, new Metrics(), new WorkTurns(shares));
    const [ann, bob] = [ANN, BOB].map((caller) => InFlight.accountOf(caller));
    for (const who of [ann!, bob!]) shares.noteRequest(who);
    const leave = await room.enterFrame(100, ANN);
    clock.ms += 500;
    leave();
    await new Promise((resolve) => setImmediate(resolve));
    expect([shares.isOwing(ann!), shares.isOwing(bob!)]).toEqual([true, false]);
    expect(room.taken).toBe(0);
  });
});
