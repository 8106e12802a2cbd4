#!/usr/bin/env bash
# @bufbuild/cel 0.6.1 (npm) treats a member whose value is null as absent: has(answer.reason) and 'reason' in answer are
# false. In CEL both are true if the map has the key, whatever its value, as in cel-python 0.5.0 and
# @marcbachmann/cel-js 8.0.0. The evaluator also contradicts itself: size(answer) counts the member, and all() visits
# it. A condition that asks if an agent has filled in a member takes the other branch for null.
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
{
  "values": { "answer": { "state": "refused", "reason": null } },
  "conditions": [
    "has(answer.reason)", "'reason' in answer", "size(answer) == 2", "answer.all(key, key in answer)",
    "answer.reason == null"
  ]
}
END
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { run } from '@bufbuild/cel';
import { evaluate } from '@marcbachmann/cel-js';

const { values, conditions } = JSON.parse(readFileSync('cases.json', 'utf8'));
const evaluator = process.argv[2] === 'bufbuild' ? run : evaluate;
console.log(conditions.map((condition) => `${condition}: ${evaluator(condition, values)}`).join('; '));
END
cat > try.py <<'END'
import json

import celpy

with open('cases.json') as file:
    cases = json.load(file)
environment = celpy.Environment()
values = {name: celpy.json_to_cel(value) for name, value in cases['values'].items()}
programs = [environment.program(environment.compile(condition)) for condition in cases['conditions']]
results = [str(program.evaluate(values)).lower() for program in programs]
print('; '.join(f'{condition}: {result}' for condition, result in zip(cases['conditions'], results)))
END
expected=$(venv/bin/python try.py)
second=$(node try.mjs marcbachmann)
observed=$(node try.mjs bufbuild)
version=$(node -p 'require("./node_modules/@bufbuild/cel/package.json").version')
echo "@bufbuild/cel $version, for {\"state\": \"refused\", \"reason\": null}"
echo "expected (cel-python 0.5.0, @marcbachmann/cel-js 8.0.0): $expected"
echo "observed: $observed"
[ "$expected" = "$second" ]
[ "$(grep -o ': true' <<< "$expected" | wc -l)" = 5 ]
[ "$observed" = "has(answer.reason): false; 'reason' in answer: false; size(answer) == 2: true;\
 answer.all(key, key in answer): false; answer.reason == null: true" ]
