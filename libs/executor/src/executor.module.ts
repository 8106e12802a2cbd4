import { Module } from '@nestjs/common';
import { TasksModule } from '#libs/tasks';
import { ExecutionRegistry } from './execution-registry.js';

/** Executes agents. TaskRecovery needs the agents' catalog too, so the application that has one provides it. */
@Module({
  imports: [TasksModule],
  providers: [ExecutionRegistry],
  exports: [ExecutionRegistry, TasksModule],
})
export class ExecutorModule {}
