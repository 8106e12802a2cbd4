import { syncBuiltinESMExports } from 'node:module';
import vm from 'node:vm';

/**
 * Module for `NODE_OPTIONS=--import=<this file>`: the event emitter of the built service drops every emission, and
 * names it on standard error. The bundle contains the emitter, so its source is changed when it is compiled.
 */
const EMIT = /EventEmitter\.prototype\.(emit|emitAsync) = function\(\) \{/g;
const DROP = '$& process.stderr.write(`dropped ${arguments[0]}\\n`); return false;';
const { Script } = vm;

vm.Script = class extends Script {
  constructor(source, options) {
    super(source.replace(EMIT, DROP), options);
  }
};
syncBuiltinESMExports();
