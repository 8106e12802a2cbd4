export { endReadsOfGoneClients } from './requests/client-presence.js';
export { ServiceAddress } from './address/service-address.js';
export { PacedSocket } from './answers/paced-socket.js';
export { type PacedReader, ReaderPace } from './answers/reader-pace.js';
export { ResponseBudgetExceeded } from './answers/byte-room.js';
export { type EnterFrame, FrameRoom, frameRoomOf, LARGE_FRAME } from './answers/frame-room.js';
export { ResponseAdmission } from './answers/response-admission.js';
export { ResponseBudget } from './answers/response-budget.js';
export {
  ApiClosed,
  ApiEvents,
  ApiEventStream,
  ApiIdempotent,
  ApiLargeAnswer,
  ApiProblem,
  PROBLEM_RESPONSE,
} from './api-documentation.js';
export { HttpModule } from './http.module.js';
export { malformedRequest, Problem, createProblem, type ProblemEntry, ProblemError } from './problems/problem.js';
export { ProblemFilter, toProblem } from './problems/problem-filter.js';
export { corsOptions, requestTimes } from './server-options.js';
export { requestTrace } from './problems/request-trace.js';
export {
  type BodyTurn,
  hasMoreMembers,
  jsonBodyParser,
  refuseUnfitJson,
  tooManyMembers,
} from './requests/json-limits.js';
export { ApiValidationPipe } from './requests/api-validation-pipe.js';
export { Cursor, type StreamCursor } from './requests/cursor.js';
export { EachEntry } from './requests/each-rule.js';
export { PageQuery, pageTokenAfter } from './requests/page-query.js';
export {
  QueryFlag,
  QueryPageSize,
  QueryNumber,
  QueryText,
  QueryTime,
  QueryWholePageSize,
  QueryWord,
} from './requests/query-rules.js';
export { cutPage, type NamedPage, namedPage, refuseMoreThan } from './requests/named-page.js';
export { readQuery } from './requests/read-query.js';
export { readBody, unknownMembers, withMembers } from './requests/read-body.js';
export {
  acceptStreamedBodies,
  drainBody,
  STREAMED_BODY_BYTES,
  StreamedBody,
  streamsBody,
} from './requests/streamed-bodies.js';
export { JWKS_PATH, SIGNATURE_TYPES, SigningKeys } from './signing/signing-keys.js';
export { SIGNING_MIGRATIONS } from './signing/signing-migrations.js';
export { sendEvents, type StreamEnd } from './sse/send-events.js';
export { PassingText, resolveText } from './sse/passing-text.js';
export { type SseFrame } from './sse/sse-frame.js';
export { SseStream } from './sse/sse-stream.js';
