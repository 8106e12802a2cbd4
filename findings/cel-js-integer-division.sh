#!/usr/bin/env bash
# cel-js 0.8.2 (npm) keeps the fraction when it divides two integers: 5 / 2 is 2.5. CEL defines int / int -> int, and
# cel-python 0.5.0 gives 2. The usual condition for a majority, yes >= size(votes) / 2 + 1, is thus false for 3 of 5
# votes: a workflow takes another branch than with other evaluators of CEL.
# Exits with 1 if the packages behave differently. Needs npm, Node 20 or later, and Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact cel-js@0.8.2 > /dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cel-python==0.5.0
cat > cases.json <<'END'
{
  "values": { "votes": ["yes", "no", "yes", "no", "yes"], "yes": 3 },
  "conditions": ["size(votes) / 2 == 2", "size(votes) % 2 == 1", "yes >= size(votes) / 2 + 1"]
}
END
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { evaluate } from 'cel-js';

const { values, conditions } = JSON.parse(readFileSync('cases.json', 'utf8'));
console.log(conditions.map((condition) => `${condition}: ${evaluate(condition, values)}`).join('; '));
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
observed=$(node try.mjs)
version=$(node -p 'require("./node_modules/cel-js/package.json").version')
echo "cel-js $version, for 3 of 5 votes (expected: as cel-python 0.5.0)"
echo "expected: $expected"
echo "observed: $observed"
[ "$expected" = 'size(votes) / 2 == 2: true; size(votes) % 2 == 1: true; yes >= size(votes) / 2 + 1: true' ]
[ "$observed" = 'size(votes) / 2 == 2: false; size(votes) % 2 == 1: true; yes >= size(votes) / 2 + 1: false' ]
