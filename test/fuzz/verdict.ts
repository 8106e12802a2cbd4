import type { FuzzCase, Outcome } from './fuzz-case.js';
import type { GrpcAnswer } from './wire/grpc-wire.js';
import type { WireAnswer } from './wire/http-wire.js';

/**
 * Pattern of internals that no answer may reveal: positions in our code, messages of the database, names of error
 * classes.
 */
const INTERNALS =
  /node_modules|\/dist\/|\.[jt]s:\d+|\bat \w+ \(|\bsyntax error at or near|violates \w+ constraint|relation "|FST_ERR|TypeError|RangeError|ReferenceError/;
/** Pattern of the answers 502 and 504 of `POST /api/generate`, about a model that does not write a workflow. */
const OF_A_MODEL = /"reason":"(MODEL|GENERATION)_FAILED"/;
/** Pattern of JSON-RPC's code for an internal error. */
const INTERNAL_ERROR = /"code":\s*-32603\b/;
const GRPC_FAULTS: Readonly<Record<number, string>> = { 2: 'UNKNOWN', 13: 'INTERNAL', 15: 'DATA_LOSS' };

/**
 * Returns the outcome of a case over HTTP. A service may be unavailable for a moment if its answer says when to retry.
 */
export function httpOutcome({ owed }: FuzzCase, answer: WireAnswer): Outcome {
  const { status, stream, text, late, retryAfter } = answer;
  if (late) return { status: 'hang', text, failure: 'no answer in time' };
  if (status === undefined) {
    return { status: 'closed', text, ...(owed && { failure: 'the connection was closed without an answer' }) };
  }
  const told = { status: stream ? `${status} stream` : String(status), text };
  if (status === 503 && retryAfter) return { ...told, ...internalsIn(text) };
  if (status >= 500 && !OF_A_MODEL.test(text)) return { ...told, failure: `status ${status}` };
  return { ...told, ...faultIn(text) };
}

/** Returns the outcome of a case over gRPC. */
export function grpcOutcome({ owed, headers = {} }: FuzzCase, { code, text, late }: GrpcAnswer): Outcome {
  if (late) return { status: 'hang', text, failure: 'no answer in time' };
  const follows = /Stream|Subscribe/.test(headers[':path'] ?? '');
  if (code === undefined) {
    const failure = owed && !follows && headers['content-type'] === 'application/grpc' && !headers['grpc-timeout'];
    return { status: 'grpc closed', text, ...(failure && { failure: 'the stream was closed without a status' }) };
  }
  const told = { status: `grpc ${code}`, text };
  // Frames and encodings that are none are the library's to refuse, and it says INTERNAL for some.
  const odd = headers['grpc-encoding'] ?? headers['grpc-timeout'];
  if (GRPC_FAULTS[code] && owed && odd === undefined) return { ...told, failure: GRPC_FAULTS[code] };
  return { ...told, ...faultIn(text) };
}

function faultIn(text: string): Pick<Outcome, 'failure'> {
  return INTERNAL_ERROR.test(text) ? { failure: 'JSON-RPC -32603' } : internalsIn(text);
}

function internalsIn(text: string): Pick<Outcome, 'failure'> {
  const told = INTERNALS.exec(text.replaceAll(/"parts":.*/g, ''));
  return told && !ECHOES.test(text) ? { failure: `tells internals: ${told[0]}` } : {};
}

/** Pattern of answers in which internals are expected: the API documentation's scripts, and metrics of the runtime. */
const ECHOES = /<!DOCTYPE html>|# HELP /;
