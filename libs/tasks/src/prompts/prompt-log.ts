import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { type JsonValue, textStart } from '#libs/protocol';
import { AppConfig, InFlight } from '#libs/service';
import type { PromptNote } from '../fold/task-event.js';
import { TaskRetention } from '../retention/task-retention.js';
import type { TaskScope } from '../store/task-store.js';
import { KeptPrompts } from './kept-prompts.js';
import {
  isCutPiece,
  NOT_KEPT,
  parseLines,
  type PromptLine,
  type PromptOutcome,
  type SentPrompt,
  toRanges,
} from './prompt-records.js';
import { PromptRedaction } from './prompt-redaction.js';
import { answerAttributes, requestAttributes } from './prompt-spans.js';

/** Maximum bytes of the kept prompts of one Task. */
export const PROMPT_BYTES = 256 * 1024;
/** Bytes of `PROMPT_BYTES` that are reserved for everything in the lines except their texts (`pieces`). */
const FOR_LINES = 32 * 1024;
/**
 * Minimum number of bytes of `PROMPT_BYTES` that must be left after a line, so that another line may follow. If fewer
 * are left, the line is marked as the last one.
 */
const FOR_LAST_LINE = 8 * 1024;
/** Maximum number of UTF-16 code units that are kept of a text (piece) that is too large. */
const CUT_START = 1_000;

/** Options of a PromptLog (the log of model calls). */
export interface PromptLogOptions {
  redaction: PromptRedaction;
  /** True if the prompts of the Task are stored. */
  kept: boolean;
  /** True if trace spans have the content of calls. */
  inSpans: boolean;
  /** Returns true if the process has memory for further texts. */
  hasRoom(): boolean;
  /** Reads the rows that earlier executions have kept; absent for a new Task. */
  readRows?: () => Promise<readonly string[]>;
}

/**
 * Describes the model calls of one Task in two forms:
 * - As lines to store. A line has only texts that no earlier line has. The lines of a Task have at most PROMPT_BYTES.
 * - As attributes of trace spans.
 */
export class PromptLog {
  /** Numbers of the texts (pieces) that the Task has stored, by the digest of the text. */
  private readonly places = new Map<string, number>();
  private bytes = 0;
  private count = 0;
  private isOver = false;
  private loading: Promise<void> | undefined;

  constructor(private readonly options: PromptLogOptions) {
    this.isOver = !options.kept;
  }

  /** Reads the lines that earlier executions of the Task have stored. If that fails, this execution stores nothing. */
  loadEarlier(): Promise<void> {
    this.loading ??= this.readEarlier();
    return this.loading;
  }

  /**
   * Describes a request to a model; returns `undefined` if nothing of it is to be stored or exported. Await
   * `loadEarlier` first.
   * @param secrets texts that are redacted
   */
  describeSent(prompt: SentPrompt, secrets: readonly string[]): PromptNote | undefined {
    if (!this.isWanted) return undefined;
    const { system, messages, tools, output, ...parameters } = prompt;
    const redacted = { ...parameters, ...this.redactMembers({ system, messages, tools, output }, secrets) };
    return this.toNote(this.sentLine(redacted), () => requestAttributes(redacted));
  }

  /**
   * Describes the outcome of a model call; returns `undefined` if nothing of it is to be stored or exported. Await
   * `loadEarlier` first.
   * @param secrets texts that are redacted
   */
  describeReceived(answer: PromptOutcome, secrets: readonly string[]): PromptNote | undefined {
    if (!this.isWanted) return undefined;
    const { message, note, error, ...measures } = answer;
    const redacted = { ...measures, ...this.redactMembers({ message, note, error }, secrets) };
    return this.toNote(this.receivedLine(redacted), () => answerAttributes(redacted));
  }

  /** True if further calls are to be stored, or to be exported in trace spans. */
  private get isWanted(): boolean {
    return !this.isOver || this.options.inSpans;
  }

  /**
   * Returns a copy of an object in which the values of the members are redacted. The names of the members stay, because
   * later code finds the values by name.
   */
  private redactMembers<T extends object>(members: T, secrets: readonly string[]): T {
    const values = this.options.redaction.redactValue(Object.values(members), secrets);
    return Object.fromEntries(Object.keys(members).map((name, index) => [name, values[index]])) as T;
  }

  private toNote(line: string | undefined, attributes: () => Record<string, string>): PromptNote | undefined {
    if (line === undefined && !this.options.inSpans) return undefined;
    return { ...(line !== undefined && { line }), ...(this.options.inSpans && { attributes: attributes() }) };
  }

  private sentLine({ system, messages, tools, output, ...parameters }: SentPrompt): string | undefined {
    if (this.isOver) return undefined;
    const line = this.beginLine();
    const members = {
      kind: 'sent' as const,
      ...parameters,
      at: new Date().toISOString(),
      ...(system !== undefined && { system: line.addPiece(system) }),
      ...(tools && { tools: line.addPiece([...tools]) }),
      ...(output && { output: line.addPiece(output) }),
      messages: toRanges(messages.map((message) => line.addPiece(message))),
    };
    return this.endLine(members, line);
  }

  private receivedLine({ message, ...answer }: PromptOutcome): string | undefined {
    if (this.isOver) return undefined;
    const line = this.beginLine();
    const members = {
      kind: 'received' as const,
      ...answer,
      ...(message !== undefined && { message: line.addPiece(message) }),
    };
    return this.endLine(members, line);
  }

  private async readEarlier(): Promise<void> {
    const { readRows, kept } = this.options;
    if (!readRows || !kept) return;
    try {
      const rows = await readRows();
      for (const line of parseLines(rows)) this.applyLine(line);
      this.bytes = rows.reduce((sum, row) => sum + Buffer.byteLength(row), 0);
    } catch {
      // What is kept must not fail the Task. Without the earlier pieces, later lines could not refer to them.
      this.isOver = true;
    }
  }

  private applyLine({ pieces = [], last }: PromptLine): void {
    for (const piece of pieces) {
      const digest = isCutPiece(piece) ? piece.digest : pieceDigest(JSON.stringify(piece));
      this.places.set(digest, this.count++);
    }
    this.isOver ||= last === true;
  }

  private beginLine(): LinePieces {
    const room = this.options.hasRoom() ? PROMPT_BYTES - FOR_LINES - this.bytes : 0;
    return new LinePieces(this.places, this.count, room);
  }

  private endLine(members: Omit<PromptLine, 'pieces'>, line: LinePieces): string {
    const left = PROMPT_BYTES - this.bytes - line.bytes;
    const head = JSON.stringify({ ...members, ...(line.isCut && { cut: true }) });
    const last = left - Buffer.byteLength(head) < FOR_LAST_LINE;
    if (last) this.isOver = true;
    // A line that does not fit loses its messages, whose list alone can be long.
    const isLong = Buffer.byteLength(head) > left - FOR_LAST_LINE / 2;
    const { step, model, kind, at } = members;
    const fitting = isLong ? JSON.stringify({ kind, step, model, ...(at && { at }), cut: true }) : head;
    const pieces = line.texts.length > 0 ? `,"pieces":[${line.texts.join(',')}]` : '';
    const text = `${fitting.slice(0, -1)}${last ? ',"last":true' : ''}${pieces}}`;
    for (const [digest, place] of line.places) this.places.set(digest, place);
    this.count += line.texts.length;
    this.bytes += Buffer.byteLength(text) + 1;
    return text;
  }
}

/** Pieces (texts of prompts) of one line that no earlier line of the Task has. */
class LinePieces {
  readonly texts: string[] = [];
  readonly places = new Map<string, number>();
  bytes = 0;
  isCut = false;

  constructor(
    private readonly known: ReadonlyMap<string, number>,
    private readonly first: number,
    private readonly room: number,
  ) {}

  /**
   * Adds a piece (a text of a prompt) unless the Task has it already. A piece that does not fit is truncated or
   * omitted.
   * @returns the number of the piece; NOT_KEPT for an omitted one
   */
  addPiece(value: JsonValue): number {
    const json = JSON.stringify(value);
    const digest = pieceDigest(json);
    const place = this.known.get(digest) ?? this.places.get(digest);
    if (place !== undefined) return place;
    if (this.pushText(json, digest)) return this.first + this.texts.length - 1;
    this.isCut = true;
    const start = textStart(typeof value === 'string' ? value : json, CUT_START);
    const cut = JSON.stringify({ cut: Buffer.byteLength(json), start, digest });
    return this.pushText(cut, digest) ? this.first + this.texts.length - 1 : NOT_KEPT;
  }

  private pushText(json: string, digest: string): boolean {
    const bytes = Buffer.byteLength(json) + 1;
    if (this.bytes + bytes > this.room) return false;
    this.bytes += bytes;
    this.places.set(digest, this.first + this.texts.length);
    this.texts.push(json);
    return true;
  }
}

function pieceDigest(json: string): string {
  return hash('sha256', json, 'base64url').slice(0, 22);
}

/** Share of IN_FLIGHT_LIMIT. While more of that memory is in use, no further texts of prompts are stored. */
const ROOM_SHARE = 1 / 2;

/**
 * Stores the prompts of the model calls of Tasks.
 * - The journal writes a prompt in the commit of the event that reports the call.
 * - The prompts of a Task are deleted with the Task.
 * - With PROMPT_LOG=off no prompt is stored.
 */
@Injectable()
export class TaskPrompts {
  private readonly redaction: PromptRedaction;

  constructor(
    private readonly database: Database,
    private readonly config: AppConfig,
    private readonly inFlight: InFlight,
    retention: TaskRetention,
  ) {
    this.redaction = new PromptRedaction(config.prompts.redact);
    retention.purgeWith('DELETE FROM task_prompt WHERE task_id = ANY($1::text[])');
  }

  /**
   * Opens the log of the model calls of a Task; `undefined` if calls are neither stored nor exported in trace spans.
   * @param isNew true if the Task is new, so that there are no stored calls to read
   */
  openLog(taskId: string, scope: TaskScope, isNew: boolean): PromptLog | undefined {
    const { kept, inSpans } = this.config.prompts;
    if (!kept && !inSpans) return undefined;
    const account = InFlight.accountOf(scope);
    return new PromptLog({
      redaction: this.redaction,
      kept,
      inSpans,
      hasRoom: () => !this.inFlight.isFull(account, ROOM_SHARE),
      ...(!isNew && { readRows: () => this.readRows(taskId) }),
    });
  }

  /** Returns the stored model calls of a Task; `undefined` if there is no such Task in the scope. */
  async readPrompts(scope: TaskScope, taskId: string): Promise<KeptPrompts | undefined> {
    // PostgreSQL rejects text with a null character.
    if (taskId.includes('\0')) return undefined;
    const values = [taskId, scope.tenant, scope.owner];
    const { rows } = await this.database.reads.queryInTurn<{ body: string | null }>(scope, { text: OF_OWNER, values });
    return rows.length === 0 ? undefined : new KeptPrompts(rows.flatMap(({ body }) => body ?? []));
  }

  private async readRows(taskId: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ body: string }>(OF_TASK, [taskId]);
    return rows.map(({ body }) => body);
  }
}

const OF_TASK = 'SELECT body FROM task_prompt WHERE task_id = $1 ORDER BY sequence';
// A Task without prompts has one row without a body.
const OF_OWNER = `
  SELECT task_prompt.body FROM task LEFT JOIN task_prompt USING (task_id)
  WHERE task.task_id = $1 AND task.tenant = $2 AND task.owner = $3 ORDER BY task_prompt.sequence`;
