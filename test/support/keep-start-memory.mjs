import vm from 'node:vm';

/**
 * Module for `node --import <this file>`: the service starts without the garbage collection that releases what only the
 * start needed (src/bootstrap.ts), which takes a quarter of the processor time of a start.
 */
const { runInNewContext } = vm;
vm.runInNewContext = (code, ...rest) => (code === 'gc' ? () => undefined : runInNewContext(code, ...rest));
