export { type GrpcCall, GrpcHttpError, type GrpcRequester, GrpcStatusError } from './grpc-client.js';
export type { OutboundAnswer, OutboundCall, OutboundTimes, SendGate } from './outbound-call.js';
export {
  OutboundConnectError,
  OutboundFault,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLongError,
  requestedPause,
} from './outbound-errors.js';
export {
  type OutboundClient,
  type OutboundFetch,
  OutboundHttp,
  OutboundModule,
  type OutboundRequester,
} from './outbound-http.js';
