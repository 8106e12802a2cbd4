import { Injectable, Module } from '@nestjs/common';
import { McpServers } from '#libs/mcp-client';
import { ToolServers } from '#libs/orchestrator';

/** Looks up the MCP servers that workflows name among those that the tenant may call. */
@Injectable()
class RegisteredServers extends ToolServers {
  constructor(private readonly servers: McpServers) {
    super();
  }

  override async has(tenant: string, name: string): Promise<boolean> {
    return (await this.servers.get(tenant, name)) !== undefined;
  }
}

/** Tells the check of workflows which MCP servers there are. */
@Module({
  providers: [{ provide: ToolServers, useClass: RegisteredServers }],
  exports: [ToolServers],
})
export class ToolServersModule {}
