import { Body, Controller, Get, HttpCode, Injectable, Param, Post, Query } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { Length, ValidateBy } from 'class-validator';
import { type ApiCall, Call, Scope } from '#libs/access';
import {
  ApiClosed,
  ApiLargeAnswer,
  ApiProblem,
  cutPage,
  EachEntry,
  QueryPageSize,
  QueryPageToken,
  QueryText,
} from '#libs/http-server';
import { isJsonObject, type JsonObject, type Part } from '#libs/protocol';
import { type OpenQuestion, type QuestionPosition, TaskQuestions, type TaskScope } from '#libs/tasks';
import { workflowOf } from '#libs/workflow-engine';
import { RunAnswers } from './run-answers.js';

const LONGEST_LABEL = 200;
const MOST_PARTS = 100;
const CONTENTS = ['text', 'raw', 'url', 'data'];
const TEXTS = ['text', 'raw', 'url', 'mediaType', 'filename'];
const FORM = { type: 'object', additionalProperties: true } as const;
const RUN = { description: 'A2A taskId of the run.', example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e' };
const NODE = { description: 'Node or instance that asks.', example: 'gate' };
const TOKEN = /^(\d{1,15})\.([\x21-\x7e]{1,200}) (\S{1,200})$/;

/** Body of `POST /api/runs/{id}/answers`: the answer to a question of a node. */
@ApiClosed()
class AnswerBody {
  static readonly unknown = 'is not a member of an answer';

  @ApiProperty({ ...NODE, minLength: 1, maxLength: LONGEST_LABEL })
  @Length(1, LONGEST_LABEL, { message: 'must be the id of a node, or of an instance of it' })
  node!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    minItems: 1,
    maxItems: MOST_PARTS,
    description: 'A2A Parts: one data Part if the question has a form, else text.',
    example: [{ data: { decision: 'yes' } }],
  })
  @ValidateBy(
    { name: 'parts', validator: { validate: isListOfParts } },
    { message: `must be a list of 1 to ${MOST_PARTS} Parts` },
  )
  @EachEntry(isPart, 'must be a Part, with one of text, data, url and raw')
  parts!: Part[];
}

class TakenAnswer {
  @ApiProperty(RUN) runId!: string;
  @ApiProperty({ description: 'Instance that was answered.', example: 'gate' }) instance!: string;
}

const EXAMPLE_POSITION = { since: new Date(Date.UTC(2026, 0, 31)), taskId: RUN.example, key: NODE.example };

/** Query parameters of the inbox. */
class InboxQuery {
  @QueryText((text) => text !== '' && text.length <= LONGEST_LABEL, `must have 1 to ${LONGEST_LABEL} characters`, {
    description: 'Lists only questions with this label.',
    example: 'editors',
  })
  assignee?: string;

  @QueryPageSize()
  pageSize = 50;

  @QueryPageToken((text) => positionOf(text) !== undefined, pageTokenAfterQuestion(EXAMPLE_POSITION))
  pageToken?: string;

  /** Last question of the previous page; `undefined` for the first page. */
  get after(): QuestionPosition | undefined {
    return this.pageToken ? positionOf(this.pageToken) : undefined;
  }
}

/** An open question of a run. It is answered with `POST /api/runs/{runId}/answers`. */
class InboxItem {
  @ApiProperty(RUN) runId!: string;
  @ApiProperty({ example: 'review' }) workflow!: string;
  @ApiProperty({ example: 'gate' }) node!: string;
  @ApiProperty({ description: 'Instance that an answer names.', example: 'gate' }) instance!: string;
  @ApiProperty({ example: 'Publish?' }) text!: string;
  @ApiPropertyOptional({
    ...FORM,
    description: 'JSON Schema of the data of the answer; without it the answer is text.',
    example: { type: 'object', properties: { decision: { enum: ['yes', 'no'] } } },
  })
  form?: JsonObject;
  @ApiPropertyOptional({ example: 'editors' }) assignee?: string;
  @ApiPropertyOptional({ format: 'date-time', example: '2026-02-02T09:30:00.000Z' }) deadline?: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) since!: string;
}

class InboxPage {
  @ApiProperty({ type: [InboxItem] }) items!: InboxItem[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

/** Returns the page token for the inbox page that begins after this question. */
function pageTokenAfterQuestion({ since, taskId, key }: QuestionPosition): string {
  return Buffer.from(`${since.getTime()}.${taskId} ${key}`).toString('base64url');
}

function positionOf(token: string): QuestionPosition | undefined {
  const [, time, taskId, key] = TOKEN.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  const since = new Date(Number(time));
  return taskId === undefined || key === undefined || Number.isNaN(since.getTime())
    ? undefined
    : { since, taskId, key };
}

function isListOfParts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.length <= MOST_PARTS;
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if (CONTENTS.filter((name) => value[name] !== undefined).length !== 1) return false;
  const { metadata } = value;
  return (
    TEXTS.every((name) => ['undefined', 'string'].includes(typeof value[name])) &&
    (metadata === undefined || isJsonObject(metadata))
  );
}

/**
 * Agent pattern of runs that were started directly. The runs of `workflow` nodes are not listed, because their
 * questions are asked again by the run that contains the node.
 */
const RUNS = 'workflows/*';

/** Lists the open questions of a caller's runs, oldest first. */
@Injectable()
export class RunInbox {
  constructor(private readonly questions: TaskQuestions) {}

  async listQuestions({ assignee, pageSize, after }: InboxQuery, scope: TaskScope): Promise<InboxPage> {
    const which = { ...(assignee !== undefined && { assignee }), ...(after && { after }) };
    const found = await this.questions.listQuestions({ scope, agent: RUNS, ...which, limit: pageSize + 1 });
    const { page, nextPageToken } = cutPage(found, pageSize, pageTokenAfterQuestion);
    return { items: page.map(itemOf), nextPageToken };
  }
}

function itemOf({ taskId, agent, key, assignee, since, body }: OpenQuestion): InboxItem {
  const { node, text, form, deadline } = body as unknown as Pick<InboxItem, 'node' | 'text' | 'form' | 'deadline'>;
  return {
    runId: taskId,
    workflow: workflowOf({ agent }),
    node,
    instance: key,
    text,
    ...(form && { form }),
    ...(assignee !== undefined && { assignee }),
    ...(deadline !== undefined && { deadline }),
    since: since.toISOString(),
  };
}

/** Lists the open questions of runs (the inbox), and answers them. */
@ApiTags('runs')
@Controller('api')
export class QuestionsController {
  constructor(
    private readonly inbox: RunInbox,
    private readonly answers: RunAnswers,
  ) {}

  @Get('inbox')
  @ApiOperation({
    summary: "Lists the open questions of the caller's runs, oldest first.",
    description: 'A question is listed until it is answered, or its run continues without an answer.',
  })
  @ApiOkResponse({ type: InboxPage })
  @ApiProblem(400, 'A parameter is malformed.')
  listQuestions(@Query() query: InboxQuery, @Scope() scope: TaskScope): Promise<InboxPage> {
    return this.inbox.listQuestions(query, scope);
  }

  @Post('runs/:id/answers')
  @HttpCode(202)
  @ApiOperation({ summary: 'Answers a question of a node; the run continues.' })
  @ApiBody({ type: AnswerBody })
  @ApiAcceptedResponse({ type: TakenAnswer })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'run not found, or node not found')
  @ApiProblem(409, 'The node has no open question.')
  @ApiProblem(422, 'The answer does not fit the form of the question, or the agent of the node cannot read it.')
  @ApiLargeAnswer()
  async answerQuestion(@Param('id') id: string, @Body() body: AnswerBody, @Call() call: ApiCall): Promise<TakenAnswer> {
    return { runId: id, instance: await this.answers.answerNode(id, body.node, body.parts, call) };
  }
}
