/** Prints the measures of the house; see house.mjs. */
import { MEASURES, measureAll } from './measures.mjs';
import { record, recorded } from './ratchet.mjs';
import { measureRuntime } from './runtime.mjs';
import { shippedSources } from './sources.mjs';

const { subjectsSince, values } = recorded();
const measured = measureAll(shippedSources(), subjectsSince);
if (process.argv.includes('--runtime')) Object.assign(measured, await measureRuntime());
const failed = Object.keys(MEASURES).filter((id) => !isFine(id));
print('', 'now', 'recorded', 'target', '');
for (const [id, { title, target }] of Object.entries(MEASURES)) {
  print(title, shown(measured[id]?.value), shown(values[id]), shown(target), failed.includes(id) ? '✗' : '');
}
if (process.argv.includes('--record'))
  console.log(`\nRecorded: ${record(measured).join(', ') || 'nothing got better'}`);
console.log(failed.length > 0 ? `\nFailed: ${failed.map((id) => MEASURES[id].title).join('; ')}` : '\nAll are met');
process.exit(failed.length > 0 ? 1 : 0);

/** True if a measure meets its target and is no worse than recorded, or was not measured. */
function isFine(id) {
  const value = measured[id]?.value;
  return value === undefined || (value <= MEASURES[id].target && !(value > values[id]));
}

function shown(value) {
  return value === undefined ? '–' : value.toLocaleString('en');
}

function print(title, now, before, target, mark) {
  console.log(`${title.padEnd(48)} ${now.padStart(9)} ${before.padStart(9)} ${target.padStart(9)} ${mark}`.trimEnd());
}
