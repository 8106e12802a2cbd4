import type { TraceContext } from '#libs/service';
import {
  type AgentCard,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import type { AgentCallError } from './agent-call-error.js';
import type { CalledCard } from './called-card.js';

/** The limits of an outbound call, in milliseconds; each of the first four is its own error. */
export interface CallTimeouts {
  connect: number;
  /** Until the first response event or, for a plain call, the response. */
  firstEvent: number;
  /** Between two events of a stream. */
  idle: number;
  /** The whole call. */
  total: number;
  /** How long a call is made again while nobody listens where it goes; nothing was sent then. */
  refused: number;
}

/** A protocol that a caller may name: the pre-1.0 dialect, under the word that workflows have for it. */
export type CalledProtocol = 'founding';

export interface CallOptions {
  signal?: AbortSignal;
  timeouts?: Partial<CallTimeouts>;
  /** True if the caller limits the whole call: a Task that its agent calls active is then looked at until that. */
  isLimited?: boolean;
  /** How often a Message is sent again after 5xx and time-outs: 3 unless set. */
  resends?: number;
  /** Who calls, for in-process calls: recorded on the child Task, which is made only while the claim is that of `token`. */
  parent?: { taskId: string; reference: string; token?: string };
  /** The caller's owner and tenant, for agents of this service. */
  scope?: { tenant: string; owner: string };
  /** The revision that an agent of this service shall answer by; its newest unless set otherwise. */
  revision?: string;
  /**
   * For an agent over the network that is known to make one Task for it, however often it is sent: the value of the
   * `Idempotency-Key` header of a send.
   */
  idempotencyKey?: string;
  /**
   * Awaited right before a Message leaves this process, for every attempt to send it. What it throws is the failure of
   * the call; an AgentCallError keeps its kind.
   */
  fence?: () => Promise<void>;
  /** Told why nothing has left, while nobody listens where the call goes; `undefined` when it is made again. */
  onUnsent?: (failure: AgentCallError | undefined) => void;
  /** Told while this service reads nothing of the answer, for want of room: that is not the agent's time. */
  onPause?: (isPaused: boolean) => void;
  /** Where the call stands in a trace. */
  trace?: TraceContext;
  /** Name of a stored credential. */
  credential?: string;
  /** Protocol that the agent is known to speak; absent: what its card says, or what it is found to speak. */
  protocol?: CalledProtocol;
  /** Whoever chose the URL is not trusted with the credential: it is used only where it names its hosts. */
  onlyToHosts?: boolean;
}

/** What came of CancelTask at an agent. */
export type CancelOutcome = 'acknowledged' | 'refused' | 'unreachable';

/** Calls one A2A agent. Made by AgentDirectory, which has resolved its card. */
export abstract class AgentClient {
  /** The agent's URL, as events and errors name it. */
  abstract readonly agentUrl: string;
  /** The part of the agent's card that calls need; `AgentDirectory.card` gives all of it. */
  abstract readonly card: CalledCard | undefined;

  /** Returns the media types that the agent takes; `undefined` where nobody says so. Never throws. */
  async inputModes(_options?: CallOptions): Promise<readonly string[] | undefined> {
    return this.card?.defaultInputModes;
  }

  /** True if the agent's card declares an extension; false where the card has something else in that place. */
  declares(uri: string): boolean {
    const extensions: unknown = (this.card as Partial<CalledCard> | undefined)?.capabilities?.extensions;
    return Array.isArray(extensions) && extensions.some((it: JsonValue) => isJsonObject(it) && it.uri === uri);
  }

  /**
   * Sends a Message and gives what the agent answers, as it comes: streaming where the card says so, else the Task as
   * soon as there is one, and again whenever it has changed. Ends after a terminal or waiting state of this turn, or a
   * direct Message; the Task as the turn before left it may come first.
   * @throws AgentCallError
   */
  abstract send(request: SendMessageRequest, options?: CallOptions): AsyncIterable<StreamResponse>;

  /**
   * Follows a Task that was sent before: SubscribeToTask, or GetTask where it has ended or streaming is not offered.
   * @throws AgentCallError; `kind` is `not-found` where the agent does not know the Task
   */
  abstract follow(taskId: string, options?: CallOptions): AsyncIterable<StreamResponse>;

  /** @throws AgentCallError */
  abstract getTask(taskId: string, options?: CallOptions): Promise<Task>;

  /** Never throws: an error is an outcome. */
  abstract cancel(taskId: string, options?: CallOptions): Promise<CancelOutcome>;
}

/** Resolves an agent's card and gives a client for it. */
export abstract class AgentDirectory {
  /**
   * Resolves the AgentCard (again for every client, through an HTTP cache: with `max-age=0` it is asked for each time)
   * and gives a client for it.
   * @param url an agent's base or card URL; an own URL is answered in-process where so configured
   * @throws AgentCallError
   */
  abstract client(url: string, options?: CallOptions): Promise<AgentClient>;

  /**
   * Reads the card of an agent elsewhere, as `client` does; `undefined` where there is none.
   * @throws AgentCallError
   */
  async card(_url: string, _options?: CallOptions): Promise<AgentCard | undefined> {
    return undefined;
  }

  /**
   * Returns the card of an agent elsewhere as it was seen first, or accepted since, without asking the agent; `undefined`
   * where none is kept.
   */
  async pinnedCard(_url: string, _options?: Pick<CallOptions, 'scope'>): Promise<JsonObject | undefined> {
    return undefined;
  }
}
