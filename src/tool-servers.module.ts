import { Injectable, Module } from '@nestjs/common';
import { McpServers } from '#libs/mcp-client';
import { ToolServers } from '#libs/orchestrator';

/** Looks up the MCP servers of workflows among those that the tenant may call. */
@Injectable()
class RegisteredServers extends ToolServers {
  constructor(private readonly servers: McpServers) {
    super();
  }

  override async has(tenant: string, name: string): Promise<boolean> {
    return (await this.servers.get(tenant, name)) !== undefined;
  }
}

/** Provides the MCP servers for the validation of workflows. */
@Module({
  providers: [{ provide: ToolServers, useClass: RegisteredServers }],
  exports: [ToolServers],
})
export class ToolServersModule {}
