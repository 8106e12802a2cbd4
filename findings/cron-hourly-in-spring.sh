#!/usr/bin/env bash
# cron 4.4.0 (npm) runs an hourly job an extra time on the day when clocks go forward. "30 * * * *" in New York fires at
# 01:30, at 03:00 and at 03:30 on 8 March 2026: the 02:30 that this day lacks is replaced by 03:00, although an hourly job
# misses nothing. An agent that is scheduled each hour works twice within half an hour.
# Exits with 1 if the package behaves differently. Needs npm and Node 20 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact cron@4.4.0 luxon@3.7.2 > /dev/null
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { CronTime } from 'cron';
import { DateTime } from 'luxon';

const { version } = JSON.parse(readFileSync('node_modules/cron/package.json', 'utf8'));
const zone = 'America/New_York';
const time = new CronTime('30 * * * *', zone);

/** Returns the next four runs after midnight of a day in New York, each as its local time and its offset from UTC. */
function runsOn(day) {
  let at = DateTime.fromISO(`${day}T00:00:00`, { zone });
  return Array.from({ length: 4 }, () => {
    at = time.getNextDateFrom(at.toJSDate(), zone);
    return at.toFormat('HH:mmZZ');
  }).join(', ');
}

const [usual, spring] = [runsOn('2026-03-07'), runsOn('2026-03-08')];
console.log(`cron ${version}, "30 * * * *" in ${zone}`);
console.log('expected: 2026-03-07: 00:30-05:00, 01:30-05:00, 02:30-05:00, 03:30-05:00');
console.log('          2026-03-08: 00:30-05:00, 01:30-05:00, 03:30-04:00, 04:30-04:00');
console.log(`observed: 2026-03-07: ${usual}`);
console.log(`          2026-03-08: ${spring}`);
const isUsual = usual === '00:30-05:00, 01:30-05:00, 02:30-05:00, 03:30-05:00';
process.exit(isUsual && spring === '00:30-05:00, 01:30-05:00, 03:00-04:00, 03:30-04:00' ? 0 : 1);
END
node try.mjs
