import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Module for `NODE_OPTIONS=--import=<this file>`: names in `TEST_NAMES` (JSON: each name with its addresses at each
 * lookup) resolve as a test specifies; the last addresses are repeated. All other names are resolved as usual.
 */
const names = JSON.parse(process.env.TEST_NAMES ?? '{}');
const { lookup } = dns;

dns.lookup = (hostname, options, callback) => {
  const answers = names[hostname];
  if (answers === undefined || callback === undefined) return lookup(hostname, options, callback);
  const addresses = (answers.length > 1 ? answers.shift() : answers[0]).map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  process.nextTick(() => {
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0].address, addresses[0].family);
  });
};
syncBuiltinESMExports();
