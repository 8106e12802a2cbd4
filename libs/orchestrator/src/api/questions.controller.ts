import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ApiCall, Call, Scope } from '#libs/access';
import { ApiLargeAnswer, ApiProblem } from '#libs/http';
import type { TaskScope } from '#libs/tasks';
import { RunInbox } from './run-inbox.js';
import { AnswerBody, InboxPage, InboxQuery, TakenAnswer } from './question.dto.js';
import { RunAnswers } from './run-answers.js';

/** Lists and answers the questions of runs. */
@ApiTags('runs')
@Controller('api')
export class QuestionsController {
  constructor(
    private readonly inbox: RunInbox,
    private readonly answers: RunAnswers,
  ) {}

  @Get('inbox')
  @ApiOperation({
    summary: "What the caller's runs ask, the longest asked first.",
    description: 'A question is here until it is answered, or its run goes on without an answer.',
  })
  @ApiOkResponse({ type: InboxPage })
  @ApiProblem(400, 'A parameter is malformed.')
  listQuestions(@Query() query: InboxQuery, @Scope() scope: TaskScope): Promise<InboxPage> {
    return this.inbox.listQuestions(query, scope);
  }

  @Post('runs/:id/answers')
  @HttpCode(202)
  @ApiOperation({ summary: 'Answers what a node of a run asks; the run goes on.' })
  @ApiBody({ type: AnswerBody })
  @ApiAcceptedResponse({ type: TakenAnswer })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'run not found, or node not found')
  @ApiProblem(409, 'The node asks nothing, or asks no more.')
  @ApiProblem(422, 'The answer does not fit the form of the question, or the agent of the node cannot read it.')
  @ApiLargeAnswer()
  async answerQuestion(@Param('id') id: string, @Body() body: AnswerBody, @Call() call: ApiCall): Promise<TakenAnswer> {
    return { runId: id, instance: await this.answers.answerNode(id, body.node, body.parts, call) };
  }
}
