import { Module } from '@nestjs/common';
import { TasksModule } from '#libs/tasks';
import { ExecutionRegistry } from './execution-registry.js';
import { TaskTracing } from './spans/task-tracing.js';

/**
 * Executes agents. Needs TracingModule. TaskRecovery also needs the catalog of agents, so the application provides it.
 */
@Module({
  imports: [TasksModule],
  providers: [ExecutionRegistry, TaskTracing],
  exports: [ExecutionRegistry, TasksModule],
})
export class ExecutorModule {}
