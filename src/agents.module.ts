import { Module } from '@nestjs/common';
import { AgentDirectory, HttpAgentDirectory, LocalAgents } from '#libs/a2a-client';
import { Metrics, OutboundHttp } from '#libs/platform';
import { InProcessAgents } from './in-process-agents.js';

/** Calls to agents, foreign ones and our own. */
@Module({
  providers: [
    { provide: LocalAgents, useClass: InProcessAgents },
    {
      provide: AgentDirectory,
      inject: [OutboundHttp, LocalAgents, Metrics],
      useFactory: (http: OutboundHttp, locals: LocalAgents, metrics: Metrics) => {
        const calls = metrics.counter('parley_outbound_calls_total', 'Calls to agents by what came of them', [
          'outcome',
        ]);
        return new HttpAgentDirectory({ http, locals: () => locals, count: (outcome) => calls.inc({ outcome }) });
      },
    },
  ],
  exports: [AgentDirectory],
})
export class AgentsModule {}
