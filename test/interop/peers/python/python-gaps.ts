import type { CalledAt } from '../a2a-called.js';
import type { CallsAt } from '../a2a-calls.js';
import { endsByPoll, keepsStream } from '../push-gaps.js';
import { NO_GRPC_03 } from '../legacy-grpc.js';
import type { PEER_OPERATIONS, PeerBinding, PeerGap } from '../peer-cells.js';
import {
  asksByArtifact,
  AT_ONCE,
  cancels,
  cancelsAlone,
  cancelsUntold,
  dropsFile,
  failsOnFile,
  failsWhenCut,
  forgets,
  hidesFailure,
  losesFileName,
  MODEL_AGENT,
  showsFile,
  staysOpen,
} from '../framework-called.js';
import {
  AGENT_CLIENT,
  asksPerson,
  beginsContexts,
  hearsAtEnd,
  hearsFailureOnly,
  refusedClient,
  withoutGrpc,
} from '../framework-calls.js';

type Gaps<Direction extends 'called' | 'calls', At> = Partial<
  Record<(typeof PEER_OPERATIONS)['a2a'][Direction][number], PeerGap<At>>
>;

/** Cells of an agent that Parley calls, and of a client that calls Parley, which differ from those of the SDKs. */
interface PythonGaps {
  called: Gaps<'called', CalledAt>;
  /** Further cells of an agent over a binding. */
  calledOver?: Partial<Record<PeerBinding, Gaps<'called', CalledAt>>>;
  calls: Gaps<'calls', CallsAt>;
}

const FILES = { says: '✓ its model gets files', test: showsFile } as const;
const ALONE = { says: '✓ its model works on, and further Tasks wait for it', test: cancelsAlone } as const;
const ASKS = { says: '✓ by an Artifact that has the question as data', test: asksByArtifact } as const;
const CANCELS = { says: '✓', test: cancels } as const;

const NO_PUSH =
  '– it notifies only while a caller reads the stream (findings/a2a-python-push-after-left-stream.sh); Parley polls';

const REFUSED_PUSH =
  '– it refuses the body of its push operation (findings/a2a-python-rest-push-body.sh); Parley keeps its stream open';

const LEFT_OPEN =
  '– failures arrive; after an exception in a stream its Task stays open (findings/a2a-python-exception-in-stream.sh)';

const MIXED_VERSIONS = '– its client sends Messages of A2A 1.0 by the methods of 0.3, which Parley refuses (-32602)';

const ONLY_TEXTS = '– its executor passes texts only to the model (findings/agent-framework-drops-files.sh)';

const NAMELESS_FILES =
  '✓ without the names of files, which Parley loses over HTTP+JSON of 0.3 (findings/a2a-js-v0-3-rest-file-name.sh)';

const MESSAGES = '– it answers with a Message, and has no Task';

const UNTOLD = '– it tells its Task only at the end';

const ONE_METHOD = '– the address in its card takes message/stream only';

/** Cells by the folders of the peers. */
export const PYTHON_GAPS: Readonly<Record<string, PythonGaps>> = {
  'a2a-sdk-0.3': {
    called: { push: { says: NO_PUSH, test: endsByPoll }, errors: { says: LEFT_OPEN, test: staysOpen } },
    calledOver: {
      'HTTP+JSON': {
        push: { says: REFUSED_PUSH, test: keepsStream },
        parts: { says: NAMELESS_FILES, test: losesFileName },
      },
      GRPC: NO_GRPC_03,
    },
    calls: {},
  },
  'google-adk': {
    called: {
      ...MODEL_AGENT,
      ...AT_ONCE,
      ask: { says: '– its agents ask only through long-running tools, which this agent does not have' },
      cancel: CANCELS,
      parts: FILES,
    },
    calls: withoutGrpc(AGENT_CLIENT),
  },
  fasta2a: {
    called: { ...MODEL_AGENT, cancel: ALONE, parts: { says: '– a Message with a file fails', test: failsOnFile } },
    calls: refusedClient(MIXED_VERSIONS),
  },
  strands: {
    called: { ...MODEL_AGENT, cancel: CANCELS, parts: FILES },
    calls: {
      ...AGENT_CLIENT,
      'follow-up': { says: '– it names no context; each call begins a new one', test: beginsContexts },
    },
  },
  'agent-framework': {
    called: {
      ...MODEL_AGENT,
      'follow-up': { says: '– its executor keeps no history', test: forgets },
      cancel: CANCELS,
      parts: { says: ONLY_TEXTS, test: dropsFile },
    },
    calls: { ...AGENT_CLIENT, stream: { says: '– it yields no words before the end of the Task', test: hearsAtEnd } },
  },
  agno: {
    called: {
      ...MODEL_AGENT,
      cancel: { says: ONE_METHOD },
      resubscribe: { says: ONE_METHOD },
      parts: { says: '– a Message with a file ends without an answer', test: dropsFile },
      errors: {
        says: '– its stream reports failed runs as completed (findings/agno-failed-run-completes.sh)',
        test: hidesFailure,
      },
    },
    calls: {},
  },
  crewai: {
    called: {
      ...MODEL_AGENT,
      ...AT_ONCE,
      'follow-up': { says: '– its executor keeps no history', test: forgets },
      cancel: { says: `${UNTOLD}; Parley ends its own, and the agent works on`, test: cancelsUntold },
      resubscribe: { says: `${UNTOLD}; Parley ends its own with an error`, test: failsWhenCut },
      parts: { says: '– it refuses files, and says so', test: failsOnFile },
    },
    calls: AGENT_CLIENT,
  },
  beeai: {
    called: { ...MODEL_AGENT, ...AT_ONCE, cancel: ALONE, parts: { says: ONLY_TEXTS, test: dropsFile } },
    calls: AGENT_CLIENT,
  },
  nemo: {
    called: {
      ...MODEL_AGENT,
      ...AT_ONCE,
      'follow-up': { says: '– its executor keeps no history', test: forgets },
      cancel: { says: `${MESSAGES}; Parley ends its own, and the agent works on`, test: cancelsUntold },
      resubscribe: { says: `${MESSAGES}; Parley ends its own with an error`, test: failsWhenCut },
      parts: { says: ONLY_TEXTS, test: dropsFile },
    },
    calls: AGENT_CLIENT,
  },
  langgraph: { called: { ...MODEL_AGENT, ask: ASKS, cancel: CANCELS, parts: FILES }, calls: {} },
  agentscope: { called: {}, calls: AGENT_CLIENT },
  ag2: {
    called: {
      ...MODEL_AGENT,
      ...AT_ONCE,
      'follow-up': { says: '– its executor keeps no history', test: forgets },
      cancel: CANCELS,
      parts: FILES,
    },
    calls: {
      ...AGENT_CLIENT,
      ask: { says: '✓ by its hook for people', test: asksPerson },
      'follow-up': { says: '– it names no context; each call begins a new one', test: beginsContexts },
      errors: { says: '– it reports that the Task failed, without the words of the agent', test: hearsFailureOnly },
    },
  },
};
