import { QueryText, QueryWholePageSize } from '#libs/http';
import { MOST_MCP_SERVERS } from '../servers/mcp-servers.js';
import { MCP_SERVER_NAME } from '#libs/service';

/** Page of the list of MCP servers. */
export class McpServerQuery {
  @QueryWholePageSize(MOST_MCP_SERVERS)
  pageSize = MOST_MCP_SERVERS;

  @QueryText((token) => token === '' || MCP_SERVER_NAME.test(token), 'is not a token of this list', {
    description: 'The nextPageToken of the page before.',
    example: 'search',
  })
  pageToken?: string;
}
