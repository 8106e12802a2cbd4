"""MCP server on the SDK."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from serving import serve_app
from tea_tools import add_tools


def serve(port):
    server = MCPServer('tea')
    add_tools(server, Image, ToolError, Context)
    serve_app(server.streamable_http_app(), port)
