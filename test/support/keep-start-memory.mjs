import vm from 'node:vm';

/**
 * `node --import <this file>`: the service starts without the collection that returns what only its start needed
 * (src/bootstrap.ts), a quarter of the processor time of a start.
 */
const { runInNewContext } = vm;
vm.runInNewContext = (code, ...rest) => (code === 'gc' ? () => undefined : runInNewContext(code, ...rest));
