"""MCP server of fastmcp."""

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image
from serving import serve_app
from tea_tools import add_tools


def serve(port):
    server = FastMCP('tea')
    add_tools(server, Image, ToolError, Context)
    serve_app(server.http_app(), port)
