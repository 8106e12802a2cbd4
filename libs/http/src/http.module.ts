import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ServiceAddress } from './address/service-address.js';
import { ReaderPace } from './answers/reader-pace.js';
import { FrameRoom } from './answers/frame-room.js';
import { ResponseBudget } from './answers/response-budget.js';
import { HttpConnections } from './http-connections.js';
import { JwksController } from './signing/jwks.controller.js';
import { SigningKeyRow } from './signing/signing-key-row.js';
import { SigningKeys } from './signing/signing-keys.js';

/** Shared parts of everything served over HTTP. Needs ServiceModule, PostgresModule and OutboundModule. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([SigningKeyRow])],
  controllers: [JwksController],
  providers: [ReaderPace, ResponseBudget, FrameRoom, HttpConnections, ServiceAddress, SigningKeys],
  exports: [ReaderPace, ResponseBudget, FrameRoom, ServiceAddress, SigningKeys],
})
export class HttpModule {}
