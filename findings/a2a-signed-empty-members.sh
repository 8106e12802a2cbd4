#!/usr/bin/env bash
# a2a-sdk 1.3.0 (Python) and @a2a-js/sdk 1.3.0 (npm) refuse the signature of an Agent Card that was made by the rules of
# A2A 1.0 (section 8.4.1) if a required member is empty, here an agent without skills and without optional capabilities.
# The rules keep REQUIRED members with a default value. Both SDKs remove all that is empty before they verify, and also
# before they sign. They accept the same card with a skill and a capability. A signer that follows the specification is
# thus refused for some of its cards.
# Exits with 1 if the packages behave differently. Needs npm, Node 22 or later, and Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --no-audit --no-fund --ignore-scripts --save-exact @a2a-js/sdk@1.3.0 jose@6.2.3 > /dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[signing]==1.3.0'
cat > sign.mjs <<'END'
import { writeFileSync } from 'node:fs';
import { FlattenedSign, exportJWK, generateKeyPair } from 'jose';

const skill = { description: 'Reads', id: 'read', name: 'read', tags: ['text'] };
const url = { protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: 'https://agent.example/a2a' };
/** Returns a card whose members are in the order that RFC 8785 wants, so that its JSON is canonical. */
const cardWith = (capabilities, skills) => ({
  capabilities, defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], description: 'Reads texts',
  name: 'reader', skills, supportedInterfaces: [url], version: '1.0.0',
});
const { privateKey, publicKey } = await generateKeyPair('ES256');
for (const [name, card] of [['full', cardWith({ streaming: true }, [skill])], ['empty', cardWith({}, [])]]) {
  const payload = new TextEncoder().encode(JSON.stringify(card));
  const header = { alg: 'ES256', kid: 'key', typ: 'JOSE' };
  const jws = await new FlattenedSign(payload).setProtectedHeader(header).sign(privateKey);
  const signatures = [{ protected: jws.protected, signature: jws.signature }];
  writeFileSync(`${name}.json`, JSON.stringify({ ...card, signatures }));
}
writeFileSync('key.json', JSON.stringify(await exportJWK(publicKey)));
END
cat > try.mjs <<'END'
import { readFileSync } from 'node:fs';
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { importJWK } from 'jose';

const read = (name) => JSON.parse(readFileSync(`${name}.json`, 'utf8'));
const key = await importJWK(read('key'), 'ES256');
console.debug = () => {};
const verify = verifyAgentCardSignature(async () => key);
const results = ['full', 'empty'].map((name) => verify(read(name)).then(() => 'accepted', ({ message }) => message));
console.log((await Promise.all(results)).join('; '));
END
cat > try.py <<'END'
import json
import logging

from a2a.types import AgentCard
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from google.protobuf.json_format import Parse
from jwt import PyJWK

logging.disable()
with open('key.json') as file:
    key = PyJWK(json.load(file), 'ES256')
verify = create_signature_verifier(lambda kid, jku: key, ['ES256'])
results = []
for name in ('full', 'empty'):
    with open(f'{name}.json') as file:
        card = Parse(file.read(), AgentCard())
    try:
        verify(card)
        results.append('accepted')
    except InvalidSignaturesError as error:
        results.append(str(error))
print('; '.join(results))
END
node sign.mjs
python=$(venv/bin/python try.py)
javascript=$(node try.mjs)
version=$(node -p 'require("./node_modules/@a2a-js/sdk/package.json").version')
echo "a2a-sdk $(venv/bin/python -c 'from importlib.metadata import version; print(version("a2a-sdk"))')," \
  "@a2a-js/sdk $version"
echo 'expected: accepted (card with a skill); accepted (card whose skills and capabilities are empty)'
echo "observed: $python (Python)"
echo "observed: $javascript (JavaScript)"
[ "$python" = 'accepted; No valid signature found' ]
[ "$javascript" = 'accepted; No valid signatures found on agent card.' ]
