// The floor under Parley: the same answer from Parley's own versions of Nest and Fastify, without anything of Parley.
import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { echoFrames, type EchoRequest, echoTask, isStreaming } from './echo-answer.ts';
import { announce } from './serve.ts';

class EchoController {
  answer(request: EchoRequest, reply: FastifyReply): object | undefined {
    if (!isStreaming(request)) return echoTask(request);
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of echoFrames(request)) reply.raw.write(frame);
    reply.raw.end();
    return undefined;
  }
}

class EchoModule {}

// Node's type stripping leaves no decorators, so they are applied by hand.
const method = Object.getOwnPropertyDescriptor(EchoController.prototype, 'answer') as PropertyDescriptor;
Post()(EchoController.prototype, 'answer', method);
HttpCode(200)(EchoController.prototype, 'answer', method);
Body()(EchoController.prototype, 'answer', 0);
Res({ passthrough: true })(EchoController.prototype, 'answer', 1);
Controller()(EchoController);
Module({ controllers: [EchoController] })(EchoModule);

const app = await NestFactory.create<NestFastifyApplication>(EchoModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
announce(app.getHttpServer());
