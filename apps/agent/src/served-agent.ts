import { appendFileSync } from 'node:fs';
import type { DefinedAgent } from '#libs/agent-sdk';
import {
  type AgentDeclaration,
  AgentExecutor,
  type CallContext,
  type NodeSpec,
  type RequestContext,
  type ServedAgent,
} from '#libs/agents';
import { DefinedExecutor } from '#libs/nodes';
import { firstText, type Message, type SendMessageRequest } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { AgentMaker } from './agent.module.js';
import type { AgentArguments } from './arguments.js';
import { RoleAgent } from './role-agent.js';

/** Line of the call log: a Message that the agent executed or answered. */
export interface CallLogLine {
  messageId: string;
  /** Id of the Task; absent if the Message was answered without one. */
  taskId?: string;
  text: string;
  /** Time of the call, in ISO 8601. */
  at: string;
  /**
   * Number of events in the Task's log when the execution resumed after an interruption; absent for a first execution.
   */
  recovered?: number;
}

/** Writes a line for every executed or answered Message to a file, where a test in another process counts the lines. */
export class CallLog {
  /** @param path file to which the lines (CallLogLine as JSON) are appended; standard error if absent */
  constructor(private readonly path?: string) {}

  recordCall(message: Message, execution?: { taskId: string; recovered: number }): void {
    const call: CallLogLine = {
      messageId: message.messageId,
      taskId: execution?.taskId,
      text: firstText(message.parts) ?? '',
      at: new Date().toISOString(),
      recovered: execution !== undefined && execution.recovered > 0 ? execution.recovered : undefined,
    };
    const line = `${JSON.stringify(call)}\n`;
    if (this.path === undefined) process.stderr.write(line);
    else appendFileSync(this.path, line);
  }
}

/**
 * Passes every Message to the executor `executor`. A line is written to the call log before an execution begins, and
 * before a direct answer (a Message without a Task) is sent.
 */
export class LoggedExecutor extends AgentExecutor {
  override readonly recovery: 'restart' | 'fail';
  override readonly cancelGrace: number;
  override readonly declares: AgentDeclaration | undefined;

  constructor(
    private readonly executor: AgentExecutor,
    private readonly calls: CallLog,
  ) {
    super();
    this.recovery = executor.recovery;
    this.cancelGrace = executor.cancelGrace;
    this.declares = executor.declares;
  }

  override execute(context: RequestContext): AsyncIterable<TaskEvent> {
    this.calls.recordCall(context.userMessage, context);
    return this.executor.execute(context);
  }

  override replyDirectly(message: Message, call: CallContext): Message | undefined {
    const answer = this.executor.replyDirectly?.(message, call);
    if (answer !== undefined) this.calls.recordCall(message);
    return answer;
  }

  override async checkRequest(request: SendMessageRequest, call: CallContext): Promise<void> {
    await this.executor.checkRequest?.(request, call);
  }
}

const MODES = ['text/plain', 'application/json'];

/**
 * Returns the agent that the command line describes: its executor, and the name, skill and modes for its card. The
 * agent has one skill and is served at the A2A root (the empty path).
 */
export function servedAgent(wanted: AgentArguments, executor: AgentExecutor): ServedAgent {
  const { name, description } = wanted;
  const tags = tagsOf(wanted);
  const { inputModes = MODES, outputModes = MODES, capabilities } = executor.declares ?? {};
  return {
    path: '',
    name,
    description,
    version: '0.1.0',
    skills: [{ id: name, name, description, tags }],
    inputModes,
    outputModes,
    ...(capabilities && { capabilities }),
    executor,
  };
}

/**
 * Returns a function that creates the agent that the command line describes.
 * @param node node that does the agent's work; not used if the agent has a role
 */
export function commandLineAgent(wanted: AgentArguments, node: NodeSpec): AgentMaker {
  return ({ types, models }) => {
    const executor = wanted.role ? new RoleAgent(wanted.role, models) : types.createExecutor(node);
    return servedAgent(wanted, new LoggedExecutor(executor, new CallLog(wanted.callLog)));
  };
}

/** Returns a function that creates an agent from the result of `defineAgent`. */
export function definedAgent(agent: DefinedAgent): AgentMaker {
  const { name, description = `The agent ${name}`, version = '0.1.0', skills, inputModes, outputModes } = agent;
  const own = [{ id: name, name, description, tags: ['defined'] }];
  return ({ secrets }) => ({
    path: '',
    name,
    description,
    version,
    skills: skills?.map((skill) => ({ tags: [], ...skill })) ?? own,
    inputModes: inputModes ?? MODES,
    outputModes: outputModes ?? MODES,
    executor: new DefinedExecutor(agent, secrets),
  });
}

function tagsOf({ script, order, role }: AgentArguments): string[] {
  if (order) return ['orders'];
  if (role !== undefined) return ['brainstorm', role];
  return [script === undefined ? 'model' : 'scripted'];
}
