import {
  isFilePart,
  isJsonObject,
  isPre10Task,
  type JsonObject,
  type JsonValue,
  partKind,
  PRE_1_0_SEND,
  readPre10SendResult,
  readPre10Task,
  type SendMessageRequest,
  writePre10SendParams,
} from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import type { JsonRpcDialect } from './json-rpc-transport.js';

/**
 * Dialect for an agent whose card names no version: A2A 1.0 that older agents understand. It asks to block by the older
 * member, and converts answers of the pre-1.0 dialect to 1.0.
 * @param onPre10Task called when the agent has answered with a Task of the pre-1.0 dialect
 */
export function undeclaredDialect(onPre10Task: () => void): JsonRpcDialect {
  return {
    writeParams: (params) =>
      isJsonObject(params.configuration)
        ? { ...params, configuration: blockingConfiguration(params.configuration) }
        : params,
    readResult: (method, result) => {
      if (method !== 'SendMessage') return isPre10Task(result) ? readPre10Task(result) : result;
      if (isPre10Task(result)) onPre10Task();
      return readSendResult(result);
    },
  };
}

/**
 * Pre-1.0 dialect: `a2a.sendMessage`, which answers with a Task.
 * @param isBare omits ids and metadata, which the dialect does not define
 */
export function pre10Dialect(isBare: boolean): JsonRpcDialect {
  return {
    sendMethod: PRE_1_0_SEND,
    writeParams: (params) => writePre10SendParams(withoutFiles(params as unknown as SendMessageRequest), isBare),
    readResult: (_method, result) => readSendResult(result),
  };
}

/**
 * Reads the answer to a Message. @throws AgentCallError `invalid-response` for a Task still active: the dialect cannot
 * follow it
 */
function readSendResult(result: JsonObject): JsonObject {
  const answer = readPre10SendResult(result);
  if (!isPre10Task(result) || !ACTIVE.has(result.status)) return answer;
  const text = 'the agent answered before its Task has ended, and its pre-1.0 dialect has no way to follow a Task';
  throw new AgentCallError('invalid-response', text);
}

const ACTIVE = new Set<JsonValue | undefined>(['created', 'working']);

function blockingConfiguration({ returnImmediately: _immediately, ...configuration }: JsonObject): JsonObject {
  return { ...configuration, blocking: true };
}

/** Returns a request without files. @throws AgentCallError `refused` for a Message with a file; nothing is sent */
function withoutFiles(request: SendMessageRequest): SendMessageRequest {
  const place = request.message.parts.findIndex(isFilePart);
  const file = request.message.parts[place];
  if (file === undefined) return request;
  const text = `the agent takes no files: its pre-1.0 dialect has texts and data, and Part ${place + 1} is ${partKind(file)}`;
  throw new AgentCallError('refused', text);
}
