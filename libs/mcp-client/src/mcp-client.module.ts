import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RequestSigners } from '#libs/a2a-client';
import { ConfigurationModule } from '#libs/configuration';
import { OutboundHttp } from '#libs/http-client';
import { AppConfig, Shutdown } from '#libs/service';
import { McpServerKind } from './api/mcp-server-kind.js';
import { McpServersController } from './api/mcp-servers.controller.js';
import { McpToolCallController, McpToolCallSlots } from './api/mcp-tool-call.controller.js';
import { McpConnections } from './connection/mcp-connections.js';
import { McpServerTools } from './mcp-server-tools.js';
import { McpTools } from './mcp-tools.js';
import { ToolPins } from './pins/tool-pins.js';
import { ToolWatch } from './pins/tool-watch.js';
import { McpServerRow } from './servers/mcp-server-table.js';
import { McpServers } from './servers/mcp-servers.js';

/**
 * Provides the tools of MCP servers and the API that manages the servers. The module is global: one import gives
 * McpTools to all nodes and McpServers to all other modules. Needs the modules of the ground layer and a global
 * RequestSigners.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([McpServerRow]), ConfigurationModule],
  controllers: [McpServersController, McpToolCallController],
  providers: [
    McpServers,
    McpServerKind,
    ToolPins,
    ToolWatch,
    McpServerTools,
    McpToolCallSlots,
    { provide: McpTools, useExisting: McpServerTools },
    {
      provide: McpConnections,
      inject: [AppConfig, OutboundHttp, RequestSigners, Shutdown],
      useFactory: (config: AppConfig, http: OutboundHttp, signers: RequestSigners, shutdown: Shutdown) =>
        new McpConnections(config, http, signers, shutdown),
    },
  ],
  exports: [McpTools, McpServers],
})
export class McpClientModule {}
