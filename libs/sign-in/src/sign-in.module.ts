import { Module } from '@nestjs/common';
import { AccessModule, SessionCookies } from '#libs/access';
import { OutboundHttp } from '#libs/http-client';
import { ServiceAddress } from '#libs/http-server';
import { Database } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import { OidcClient } from './oidc-client.js';
import { SessionController, SessionUpkeepJob } from './session-api.js';
import { BegunSignIns, SignInController } from './sign-in-routes.js';

/** Provides the sign-in of people to the console. Needs AccessModule and JobsModule. */
@Module({
  imports: [AccessModule],
  controllers: [SessionController, SignInController],
  providers: [
    SessionUpkeepJob,
    {
      provide: SessionCookies,
      inject: [AppConfig, ServiceAddress],
      useFactory: (config: AppConfig, address: ServiceAddress) => new SessionCookies(config, address),
    },
    {
      provide: OidcClient,
      inject: [AppConfig, OutboundHttp],
      useFactory: (config: AppConfig, http: OutboundHttp) => new OidcClient(config, http),
    },
    { provide: BegunSignIns, inject: [Database, SessionCookies], useFactory: BegunSignIns.openBegunSignIns },
  ],
  exports: [SessionCookies],
})
export class SignInModule {}
