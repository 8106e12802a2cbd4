// Shifts what JavaScript calls the time by as many milliseconds as a file says: `node --import` this, with the file in
// SHIFTED_CLOCK. The file may change meanwhile: the clock steps then, within 50 ms. Timers and `performance.now()` go
// by the monotonic clock, which no step of the system's clock moves either.
import { readFileSync } from 'node:fs';

const LOOK_MS = 50;
const file = process.env.SHIFTED_CLOCK;
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
const realOrigin = performance.timeOrigin;
let shift = 0;

const now = () => realNow() + shift;
const ShiftedDate = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
});
RealDate.now = now;
RealDate.prototype.constructor = ShiftedDate;
globalThis.Date = ShiftedDate;
Object.defineProperty(performance, 'timeOrigin', { configurable: true, get: () => realOrigin + shift });

look();
setInterval(look, LOOK_MS).unref();

function look() {
  try {
    const told = Number(readFileSync(file, 'utf8'));
    if (Number.isFinite(told)) shift = told;
  } catch {
    // Whoever shifts the clock has gone, and its file with it.
  }
}
