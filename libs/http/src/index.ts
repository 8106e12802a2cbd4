export { ServiceAddress } from './address/service-address.js';
export { AnswerRoom, NoRoomForAnswer } from './answer-room.js';
export {
  ApiEvents,
  ApiEventStream,
  ApiIdempotent,
  ApiPages,
  ApiProblem,
  PROBLEM_RESPONSE,
} from './api-documentation.js';
export { HttpModule } from './http.module.js';
export { malformed, Problem, problem, type ProblemEntry, ProblemError } from './problems/problem.js';
export { ProblemFilter, problemOf } from './problems/problem-filter.js';
export { hasMoreMembers, jsonBodyParser, refuseTooDeep, tooManyMembers } from './requests/json-limits.js';
export { ApiValidationPipe } from './requests/api-validation-pipe.js';
export { Each } from './requests/each-rule.js';
export { PageQuery, pageTokenAfter } from './requests/page-query.js';
export { oneOf, readCursor, readFlag, readPageQuery, single } from './requests/query-parameters.js';
export { QueryFlag, QueryPageSize, QueryText, QueryWord } from './requests/query-rules.js';
export { readBody, withMembers } from './requests/read-body.js';
export { JWKS_PATH, SIGNATURE_TYPES, SigningKeys } from './signing/signing-keys.js';
export { SIGNING_MIGRATIONS } from './signing/signing-migrations.js';
export { sendEvents, type StreamEnd } from './sse/send-events.js';
export { type SseFrame } from './sse/sse-frame.js';
export { SseStream } from './sse/sse-stream.js';
