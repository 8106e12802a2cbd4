import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { resolve } from 'node:path';
import { Logger } from 'nestjs-pino';
import { GrpcServer, registerA2aRoutes, RequestHandler } from '#libs/a2a-server';
import {
  admitBodies,
  Authentication,
  BrowserGuard,
  CallerLimits,
  guardBrowsers,
  guardRoutes,
  LoopTurns,
  OpenCalls,
  RefusedBodies,
  scopeOf,
} from '#libs/access';
import type { DefinedAgent, ServeOptions, Serving } from '#libs/agent-sdk';
import { AgentCatalog } from '#libs/agents';
import { TaskRecovery } from '#libs/executor';
import { corsOptions, FrameRoom, requestTimes, ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import { type AppConfig, type Environment, InFlight, loadConfig, LoopShares, Readiness, Shutdown } from '#libs/service';
import { type AgentMaker, AgentModule } from './agent.module.js';
import { definedAgent } from './served-agent.js';

/** Name and address of a process that serves an agent. */
export interface AgentPlace {
  name: string;
  description: string;
  /** Port to listen on; 0 picks a free port. */
  port: number;
  host: string;
  dataDir: string;
}

/**
 * Serves the single agent of this process.
 * @throws ConfigError, and any error of the start; everything that had started is stopped first
 */
export async function startAgent(place: AgentPlace, environment: Environment, make: AgentMaker): Promise<Serving> {
  const config = configOf(place, environment);
  const app = await createOrEnd(AgentModule.forAgent(config, make), config);
  try {
    return { url: await listenAndRecover(app, config), close: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/**
 * Returns the configuration of the process. The `place` takes precedence over the environment; the default log level is
 * `warn`.
 */
function configOf({ name, description, port, host, dataDir }: AgentPlace, environment: Environment): AppConfig {
  return loadConfig({
    LOG_LEVEL: 'warn',
    ...environment,
    PORT: String(port),
    HOST: host,
    DATA_DIR: dataDir,
    SERVICE_NAME: name,
    SERVICE_DESCRIPTION: description,
  });
}

/**
 * Creates the application. If that fails, everything that had started is stopped, the embedded database included, and
 * the error is rethrown.
 */
async function createOrEnd(module: DynamicModule, config: AppConfig): Promise<NestFastifyApplication> {
  try {
    return await createAgent(module, config);
  } catch (error) {
    await Shutdown.afterFailedStart(config);
    throw error;
  }
}

async function createAgent(module: DynamicModule, config: AppConfig): Promise<NestFastifyApplication> {
  const { bodyLimit, requestTimeoutMs, corsOrigins } = config;
  const adapter = new FastifyAdapter({ bodyLimit, forceCloseConnections: 'idle', ...requestTimes(requestTimeoutMs) });
  // Nest's own log lines of the start are useless: an error is thrown, and the caller reports it.
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, { logger: false, abortOnError: false });
  app.useLogger(app.get(Logger));
  if (corsOrigins.length > 0) app.enableCors(corsOptions(corsOrigins));
  const fastify = app.getHttpAdapter().getInstance();
  guardBrowsers(fastify, app.get(BrowserGuard));
  const refused = new RefusedBodies(app.get(InFlight));
  const turns = new LoopTurns(app.get(LoopShares));
  guardRoutes(fastify, {
    authentication: app.get(Authentication),
    openCalls: app.get(OpenCalls),
    limits: app.get(CallerLimits),
    refused,
    turns,
  });
  admitBodies(fastify, app.get(InFlight), bodyLimit, refused);
  app.get(FrameRoom).serveStreams(app.getHttpServer(), scopeOf);
  const routes = registerA2aRoutes(fastify, {
    handler: app.get(RequestHandler),
    catalog: app.get(AgentCatalog),
    address: app.get(ServiceAddress),
    jsonMembers: config.content.jsonMembers,
    bodyTurn: (...body) => turns.readBody(...body),
  });
  app.get(Shutdown).registerStep('streams', () => routes.endStreams());
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  return app;
}

/** Listens, then resumes the Tasks that an earlier process of this agent left. Returns the agent's URL. */
async function listenAndRecover(app: NestFastifyApplication, config: AppConfig): Promise<string> {
  await app.listen(config.port, config.host);
  const url = (await app.getUrl()).replace('[::1]', 'localhost');
  app.get(ServiceAddress).setBoundUrl(url);
  await app.get(GrpcServer).listenIfConfigured();
  app.get(TaskRecovery).start();
  app.get(Jobs).start();
  app.get(Readiness).started = true;
  return url;
}

/** Serves an agent of `defineAgent` in this process. @throws the errors of startAgent */
export function serveDefined(agent: DefinedAgent, options: ServeOptions, environment: Environment): Promise<Serving> {
  const { name, description = `The agent ${name}` } = agent;
  const { port = 4001, host = '127.0.0.1', dataDir = `.data/agents/${name}`, databaseUrl } = options;
  const env = databaseUrl === undefined ? environment : { ...environment, DATABASE_URL: databaseUrl };
  const place = { name, description, port, host, dataDir: resolve(dataDir) };
  return startAgent(place, env, definedAgent(agent));
}
