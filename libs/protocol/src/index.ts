export { jsonInText } from './json-in-text.js';
export { hasMoreCharacters } from './json-size.js';
export { endOfJsonString, nestsDeeper, parseJson, refuseUnfitText, tryParseJson } from './json-text.js';
export { UnfitJson, unfitValue } from './unfit-value.js';
export { type JsonObject, type JsonValue, isJsonObject } from './json.js';
export { TaskChangedHands } from './task-changed-hands.js';
export { isActiveState, isTerminalState, isWaitingState, TASK_STATES, type TaskState } from './task-state.js';
export {
  contentLength,
  dataPart,
  firstData,
  firstText,
  firstTextRow,
  joinedText,
  type Message,
  PART_OF,
  type Part,
  textPart,
} from './message.js';
export { claimsKeptFile, KEPT_FILE, keptFileOf, withBytes, withKeptFile, withoutKeptFile } from './kept-file.js';
export {
  describedPart,
  isFilePart,
  mergedTexts,
  partAsLine,
  partAsText,
  partKind,
  spokenParts,
  textRows,
} from './passed-parts.js';
export type {
  Artifact,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from './task.js';
export type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from './requests.js';
export { readTimestamp } from './rfc-3339.js';
export { dateOfTimestamp, timestampNow } from './timestamp.js';
export { derivedId } from './derived-id.js';
export { randomDigits, randomId } from './random-id.js';
export type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentSkill,
} from './agent-card.js';
export {
  agentMessage,
  artifactUpdate,
  statusUpdate,
  submittedTask,
  type TaskReference,
  userMessage,
} from './constructors.js';
export { A2A_ERRORS, A2AError, type A2AErrorReason, type FieldViolation, invalidParams } from './errors.js';
export { failedUpdate, failureMetadata, type FailureNote, failureNote } from './failure-note.js';
export { FORM_EXTENSION, formMessage, type FormQuestion, formQuestion } from './form-question.js';
export { runEventMetadata, type RunEventNote, runEventNote } from './run-event.js';
export { streamEvent, streamEventMetadata } from './stream-event.js';
export { InvalidProtocolValue } from './codec/invalid-protocol-value.js';
export { protoName, protoNames, type ProtoNames, toJsonNames } from './codec/proto-names.js';
export { readStreamItem, readStreamResponse, readTask, standardBase64, UNREAD_PARTS } from './codec/proto-json.js';
export {
  decodeAgentCard,
  decodeStreamResponse,
  decodeTask,
  encodeAgentCard,
  encodeSendMessageRequest,
  encodeSendMessageResponse,
  encodeStreamResponse,
  encodeTask,
} from './codec/sdk-codec.js';
export { PRE_1_0_SEND, readPre10SendParams, writePre10SendParams } from './codec/pre-1-0-requests.js';
export { isPre10Task, readPre10SendResult, readPre10Task, writePre10Task } from './codec/pre-1-0-values.js';
export {
  readV03OnePushParams,
  readV03PushConfig,
  readV03PushParams,
  readV03SendParams,
  readV03TaskParams,
  type ReadV03,
} from './codec/v0-3-requests.js';
export {
  readV03RestPushConfig,
  readV03RestSend,
  writeV03RestItem,
  writeV03RestPushConfig,
  writeV03RestTask,
} from './codec/v0-3-rest.js';
export { endsV03Stream, writeV03PushConfig, writeV03StreamItem, writeV03Task } from './codec/v0-3-values.js';
export { canonicalAgentCard, compactCardText } from './card/canonical-card.js';
export { canonicalJson } from './card/canonical-json.js';
export { type JsonDifference, jsonDifferences } from './json-differences.js';
export { briefText, textStart, withoutHalf } from './brief-text.js';
export { ContentTooLarge } from './content-too-large.js';
export { isIdentifier, isPlainText, LONGEST_ID, NO_ID } from './identifier.js';
export {
  hasUserinfo,
  LONGEST_URL,
  NO_USERINFO,
  redactedUrl,
  TOO_LONG_URL,
  urlProblem,
  withoutUserinfo,
} from './shown-url.js';
export {
  isRenderingOf,
  renderTemplate,
  templateReferences,
  type TemplateResolver,
  unreadReferences,
} from './template.js';
export { TextBudget } from './text-budget.js';
export { textBefore, withoutTrailing } from './text-ends.js';
export { artifactReference } from './template-artifact.js';
