#!/usr/bin/env bash
# Two evaluators of CEL read parts of a timestamp with the clock of the machine's time zone: @bufbuild/cel 0.6.1 and
# @marcbachmann/cel-js 8.0.0 (npm). CEL reads them in UTC unless the expression names a zone. With TZ=America/New_York,
# getDayOfYear() of 00:30 UTC in July is a day behind, with @marcbachmann/cel-js all day long. In @bufbuild/cel
# getHours() of 02:30 UTC on 8 March 2026 is 3, since New York lacks that hour. cel-python 0.5.0 gives the same
# everywhere. Two replicas with different time zones thus take different branches of a workflow.
# Exits with 1 if the packages behave differently. Needs npm, Node 22 or later, and Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact \
  @bufbuild/cel@0.6.1 @bufbuild/protobuf@2.17.0 @marcbachmann/cel-js@8.0.0 > /dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cel-python==0.5.0
cat > cases.json <<'END'
[
  "timestamp('2026-03-08T02:30:00Z').getHours()",
  "timestamp('2026-07-02T00:30:00Z').getDayOfYear()",
  "timestamp('2026-07-02T12:30:00Z').getDayOfYear()"
]
END
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { run } from '@bufbuild/cel';
import { evaluate } from '@marcbachmann/cel-js';

const evaluator = process.argv[2] === 'bufbuild' ? run : evaluate;
console.log(JSON.parse(readFileSync('cases.json', 'utf8')).map((expression) => evaluator(expression)).join(', '));
END
cat > try.py <<'END'
import json

import celpy

environment = celpy.Environment()
with open('cases.json') as file:
    programs = [environment.program(environment.compile(expression)) for expression in json.load(file)]
print(', '.join(str(program.evaluate({})) for program in programs))
END
expected=$(TZ=America/New_York venv/bin/python try.py)
version() { node -p "require('./node_modules/$1/package.json').version"; }
echo "@bufbuild/cel $(version @bufbuild/cel), @marcbachmann/cel-js $(version @marcbachmann/cel-js)"
sed -n 's/^ *"\(.*\)",*$/\1/p' cases.json
echo "expected: $expected in each time zone (cel-python 0.5.0)"
for package in bufbuild marcbachmann; do
  [ "$(TZ=UTC node try.mjs "$package")" = "$expected" ]
  echo "observed: $(TZ=America/New_York node try.mjs "$package") with @$package in New York, $expected in UTC"
done
[ "$expected" = '2, 182, 182' ]
[ "$(TZ=America/New_York node try.mjs bufbuild)" = '3, 181, 182' ]
[ "$(TZ=America/New_York node try.mjs marcbachmann)" = '2, 181, 181' ]
