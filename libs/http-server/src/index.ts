export {
  acceptStreamedBodies,
  type BodyTurn,
  drainBody,
  endReadsOfGoneClients,
  hasMoreMembers,
  jsonBodyParser,
  refuseUnfitJson,
  STREAMED_BODY_BYTES,
  StreamedBody,
  streamsBody,
  tooManyMembers,
  tryParseFitJson,
} from './requests/request-bodies.js';
export { refuseOtherMethods } from './requests/allowed-methods.js';
export { ServiceAddress } from './service-address.js';
export { type PacedReader, PacedSocket, ReaderPace } from './answers/reader-pace.js';
export { ResponseAdmission, ResponseBudget, ResponseBudgetExceeded } from './answers/response-budget.js';
export { type EnterFrame, FrameRoom, frameRoomOf, LARGE_FRAME } from './answers/frame-room.js';
export {
  ANY_JSON,
  ApiClosed,
  ApiEvents,
  ApiEventStream,
  ApiIdempotent,
  ApiLargeAnswer,
  ApiProblem,
  CREATED_HEADERS,
  ETAG_HEADER,
  LOCATION_HEADER,
  PROBLEM_RESPONSE,
} from './api-documentation.js';
export { corsOptions, HttpModule, requestTimes } from './http.module.js';
export {
  assertCallable,
  createProblem,
  malformedRequest,
  Problem,
  ProblemEntry,
  ProblemError,
  ProblemFilter,
  requestTrace,
  stillNamed,
  toProblem,
} from './problem.js';
export {
  ApiValidationPipe,
  EachEntry,
  IfGiven,
  readBody,
  readQuery,
  unknownMembers,
  withMembers,
} from './requests/api-validation-pipe.js';
export {
  Cursor,
  PassingText,
  resolveText,
  sendEvents,
  type SseFrame,
  SseStream,
  type StreamCursor,
  type StreamEnd,
} from './sse/sse-stream.js';
export {
  cutPage,
  type NamedPage,
  namedPage,
  PageQuery,
  type PagePosition,
  pageTokenAfter,
  parsePageToken,
  QueryFlag,
  QueryNumber,
  QueryPageSize,
  QueryPageToken,
  QueryPosition,
  QueryText,
  QueryTime,
  QueryWholePageSize,
  QueryWord,
  refuseMoreThan,
} from './requests/page-query.js';
export { JWKS_PATH, SIGNATURE_TYPES, SIGNING_MIGRATIONS, SigningKeys } from './signing/signing-keys.js';
