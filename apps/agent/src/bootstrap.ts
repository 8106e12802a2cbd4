import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { GrpcServer, registerA2aRoutes, RequestHandler } from '#libs/a2a-server';
import {
  admitBodies,
  Authentication,
  BrowserGuard,
  CallerLimits,
  guardBrowsers,
  guardRoutes,
  OpenCalls,
} from '#libs/access';
import { AgentCatalog, TaskRecovery } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { Jobs } from '#libs/jobs';
import {
  type AppConfig,
  ConfigError,
  type Environment,
  InFlight,
  loadConfig,
  Readiness,
  Shutdown,
} from '#libs/service';
import { agentNode } from './agent-node.js';
import { AgentModule } from './agent.module.js';
import { type AgentArguments, parseArguments, USAGE, UsageError } from './arguments.js';

/**
 * Starts the agent and says so in one line on standard output. What is wrong with the command line or the environment
 * ends the process with a line per problem on standard error, and exit code 1.
 */
export async function start(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    const wanted = parseArguments(argv);
    if (wanted === undefined) {
      process.stdout.write(`${USAGE}\n`);
      return;
    }
    const config = configOf(wanted, environment);
    const url = await startedOn(config, AgentModule.with(config, wanted, await agentNode(wanted)));
    process.stdout.write(`Agent ${wanted.name} is ready on ${url}\n`);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

/** The command line says what the service is told by its environment. */
function configOf(wanted: AgentArguments, environment: Environment): AppConfig {
  return loadConfig({
    LOG_LEVEL: 'warn',
    ...environment,
    PORT: String(wanted.port),
    HOST: wanted.host,
    DATA_DIR: wanted.dataDir,
    SERVICE_NAME: wanted.name,
    SERVICE_DESCRIPTION: wanted.description,
  });
}

/** A start that fails ends what it has begun, the embedded database as well, before it is reported. */
async function startedOn(config: AppConfig, module: DynamicModule): Promise<string> {
  const app = await createAgent(module, config).catch(async (error: unknown) => {
    await Shutdown.afterFailedStart(config);
    throw error;
  });
  return listen(app, config).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
}

async function createAgent(module: DynamicModule, config: AppConfig): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({ bodyLimit: config.bodyLimit, forceCloseConnections: 'idle' });
  // What Nest says while it starts is of no use to anybody: a fault is thrown, and reported by `start`.
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, { logger: false, abortOnError: false });
  app.useLogger(app.get(Logger));
  const fastify = app.getHttpAdapter().getInstance();
  guardBrowsers(fastify, app.get(BrowserGuard));
  guardRoutes(fastify, {
    authentication: app.get(Authentication),
    openCalls: app.get(OpenCalls),
    limits: app.get(CallerLimits),
  });
  admitBodies(fastify, app.get(InFlight), config.bodyLimit);
  const routes = registerA2aRoutes(fastify, {
    handler: app.get(RequestHandler, { strict: false }),
    catalog: app.get(AgentCatalog, { strict: false }),
    address: app.get(ServiceAddress),
  });
  app.get(Shutdown).register('streams', () => routes.endStreams());
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  return app;
}

/** Listens, and from then on goes on with what an earlier process of this agent left. */
async function listen(app: NestFastifyApplication, config: AppConfig): Promise<string> {
  await app.listen(config.port, config.host);
  const url = (await app.getUrl()).replace('[::1]', 'localhost');
  app.get(ServiceAddress).listening(url);
  await app.get(GrpcServer).listen();
  app.get(TaskRecovery).start();
  app.get(Jobs).start();
  app.get(Readiness).started = true;
  return url;
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof ConfigError) return error.lines.join('\n');
  return `The agent could not start: ${error instanceof Error ? error.message : 'unknown error'}`;
}
