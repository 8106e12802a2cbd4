export type { OutboundAnswer, OutboundCall, OutboundTimes } from './outbound-call.js';
export {
  OutboundConnectError,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLongError,
} from './outbound-errors.js';
export { type OutboundClient, type OutboundFetch, OutboundHttp, type OutboundRequester } from './outbound-http.js';
export { OutboundModule } from './outbound.module.js';
export { requestedPause } from './requested-pause.js';
