#!/usr/bin/env bash
# croniter 7.0.0 (Python) gives a daily job an extra time on the day when clocks go back. "30 1 * * *" in New York is
# due at 01:30-04:00 and again at 01:30-05:00 on 1 November 2026. The manual of Vixie cron has a job at a fixed hour run
# once on such a day. croniter does as Vixie cron in spring: "30 2 * * *" is due at 03:00 on the day that lacks 02:30.
# An agent that is scheduled each night works twice within an hour.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check croniter==7.0.0 tzdata==2026.6
cat > try.py <<'END'
import sys
from datetime import datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo

from croniter import croniter

ZONE = 'America/New_York'


def times_from(day, pattern):
    """Returns the first three times of a pattern after midnight of a day in New York, with their offsets from UTC."""
    times = croniter(pattern, datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(ZONE)))
    return ', '.join(times.get_next(datetime).isoformat(timespec='minutes')[5:] for _ in range(3))


spring, autumn = times_from('2026-03-07', '30 2 * * *'), times_from('2026-10-31', '30 1 * * *')
print(f'croniter {version("croniter")}, {ZONE}')
print('expected: 30 2 * * *: 03-07T02:30-05:00, 03-08T03:00-04:00, 03-09T02:30-04:00')
print('          30 1 * * *: 10-31T01:30-04:00, 11-01T01:30-04:00, 11-02T01:30-05:00')
print(f'observed: 30 2 * * *: {spring}')
print(f'          30 1 * * *: {autumn}')
is_spring_like_cron = spring == '03-07T02:30-05:00, 03-08T03:00-04:00, 03-09T02:30-04:00'
is_autumn_twice = autumn == '10-31T01:30-04:00, 11-01T01:30-04:00, 11-01T01:30-05:00'
sys.exit(0 if is_spring_like_cron and is_autumn_twice else 1)
END
venv/bin/python try.py
