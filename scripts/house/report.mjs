/** Prints the quality measures (see house.mjs). */
import { MEASURES, measureAll } from './measures.mjs';
import { record, recorded } from './ratchet.mjs';
import { measureRuntime } from './runtime.mjs';
import { shippedSources } from './sources.mjs';

const RECORD = '--record';
const ACCEPT = '--accept=';

const { subjectsSince, values } = recorded();
const measured = measureAll(shippedSources(), subjectsSince);
if (process.argv.includes('--runtime')) Object.assign(measured, await measureRuntime());
const failed = Object.keys(MEASURES).filter((id) => !isFine(id));
print('', 'now', 'recorded', 'target', '');
for (const [id, { title, target }] of Object.entries(MEASURES)) {
  print(title, shown(measured[id]?.value), shown(values[id]), shown(target), failed.includes(id) ? '✗' : '');
}
const accepted = process.argv.filter((it) => it.startsWith(ACCEPT)).flatMap((it) => it.slice(ACCEPT.length).split(','));
if (process.argv.includes(RECORD) || accepted.length > 0)
  console.log(`\nRecorded: ${record(measured, accepted).join(', ') || 'nothing got better'}`);
console.log(failed.length > 0 ? `\nFailed: ${failed.map((id) => MEASURES[id].title).join('; ')}` : '\nAll are met');
process.exit(failed.length > 0 ? 1 : 0);

/** True if a measure meets its target, or is only counted, and is no worse than recorded; or was not measured. */
function isFine(id) {
  const value = measured[id]?.value;
  const { target, isCounted } = MEASURES[id];
  return value === undefined || ((isCounted || value <= target) && !(value > values[id]));
}

function shown(value) {
  return value === undefined ? '–' : value.toLocaleString('en');
}

function print(title, now, before, target, mark) {
  console.log(`${title.padEnd(48)} ${now.padStart(9)} ${before.padStart(9)} ${target.padStart(9)} ${mark}`.trimEnd());
}
