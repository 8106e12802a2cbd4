import 'reflect-metadata';
import { Controller, Get, Module, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { Logger } from 'nestjs-pino';
import { setTimeout as delay } from 'node:timers/promises';
import { OutboundModule } from '#libs/http-client';
import { HttpModule, ServiceAddress, SseStream } from '#libs/http-server';
import { PostgresModule } from '#libs/postgres';
import { loadConfig, Readiness, ServiceModule, Shutdown } from '#libs/service';

/** A service of nothing but the ground; prints its address when it listens. */
@Controller()
class StreamController {
  constructor(private readonly shutdown: Shutdown) {}

  @Get('stream')
  async stream(@Res() reply: FastifyReply): Promise<void> {
    reply.hijack();
    const stream = new SseStream(reply.raw);
    this.shutdown.registerStep('streams', () => stream.endStream());
    for (let id = 1; !stream.closed.aborted; id += 1) {
      await stream.sendFrame({ id, data: 'tick' });
      await delay(20);
    }
  }
}

@Module({
  imports: [
    ServiceModule.forRoot(loadConfig(process.env)),
    PostgresModule.forRoot({ migrations: [] }),
    OutboundModule,
    HttpModule,
  ],
  controllers: [StreamController],
})
class AppModule {}

const adapter = new FastifyAdapter({ forceCloseConnections: 'idle' });
const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, { bufferLogs: true });
app.useLogger(app.get(Logger));
app.enableShutdownHooks(undefined, { useProcessExit: true });
if (process.env['TEST_EXECUTES'] === 'true') {
  // An execution that ends when the test has it end, or when it is let go.
  const ended = new Promise<void>((resolve) => process.once('SIGUSR2', () => resolve()));
  app.get(Shutdown).registerStep('executions', async ({ signal }) => {
    const letGo = new Promise((resolve) => signal.addEventListener('abort', resolve));
    await Promise.race([ended, letGo]);
  });
}
await app.listen(0, '127.0.0.1');
app.get(ServiceAddress).setBoundUrl(await app.getUrl());
app.get(Readiness).started = true;
process.stdout.write(`${app.get(ServiceAddress).internalUrl}\n`);
