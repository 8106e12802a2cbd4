import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** MCP server with Tomcat, whose tools are those that mcp-called.ts calls. */
class ToolServer {
    private static final String KEY = System.getenv("PEER_KEY");

    /** Refuses calls without the key. */
    static class Guard extends HttpFilter {
        @Override
        protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
            if (KEY == null || KEY.equals(request.getHeader("x-api-key"))) chain.doFilter(request, response);
            else response.sendError(401);
        }
    }

    /** Serves the tools at /mcp until the process ends. */
    static void serve(int port) throws Exception {
        var transport = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        var server = McpServer.sync(transport).serverInfo("tea", "1.0.0");
        server.capabilities(ServerCapabilities.builder().tools(false).build());
        server.toolCall(tool("echo", "Says what it is told", "text"), (exchange, call) -> words(textOf(call, "text")));
        server.toolCall(tool("fail", "Reports an error"), (exchange, call) ->
            CallToolResult.builder().addTextContent("no tea left").isError(true).build());
        server.toolCall(tool("picture", "Answers with an image"), (exchange, call) ->
            CallToolResult.builder().addContent(ImageContent.builder("cG5n", "image/png").build()).build());
        server.toolCall(tool("brew", "Reports its progress"), ToolServer::brew);
        server.toolCall(tool("add", "Adds two numbers"), (exchange, call) -> {
            var sum = ((Number) call.arguments().get("a")).intValue() + ((Number) call.arguments().get("b")).intValue();
            return CallToolResult.builder().structuredContent(Map.of("sum", sum)).build();
        });
        server.toolCall(tool("wait", "Works until it is canceled, and writes a file", "path"), ToolServer::await);
        server.build();
        start(port, transport);
    }

    private static void start(int port, HttpServletStreamableServerTransportProvider transport) throws Exception {
        var tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("parley-peer-").toString());
        tomcat.setPort(port);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        var context = tomcat.addContext("", tomcat.getServer().getCatalinaBase().toString());
        Tomcat.addServlet(context, "mcp", transport).setAsyncSupported(true);
        context.addServletMappingDecoded("/*", "mcp");
        var filter = new FilterDef();
        filter.setFilterName("guard");
        filter.setFilter(new Guard());
        filter.setAsyncSupported("true");
        context.addFilterDef(filter);
        var paths = new FilterMap();
        paths.setFilterName("guard");
        paths.addURLPattern("/*");
        context.addFilterMap(paths);
        tomcat.start();
        tomcat.getServer().await();
    }

    private static CallToolResult brew(McpSyncServerExchange exchange, CallToolRequest call) {
        for (var step = 1; step <= 2; step++)
            if (call.progressToken() != null)
                exchange.progressNotification(ProgressNotification.builder(call.progressToken(), step).total(2.0).build());
        return words("brewed");
    }

    private static CallToolResult await(McpSyncServerExchange exchange, CallToolRequest call) {
        var path = textOf(call, "path");
        try {
            Files.createFile(Path.of(path + ".begun"));
            Thread.sleep(600_000);
        } catch (InterruptedException error) {
            write(path);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return words("canceled");
    }

    private static void write(String path) {
        try {
            Files.createFile(Path.of(path));
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static String textOf(CallToolRequest call, String name) {
        return String.valueOf(call.arguments().get(name));
    }

    /** Returns a tool whose inputs are texts; `add` has numbers, and takes any. */
    private static Tool tool(String name, String description, String... texts) {
        var properties = new HashMap<String, Object>();
        for (var text : texts) properties.put(text, Map.of("type", "string"));
        return Tool.builder(name, Map.of("type", "object", "properties", properties)).description(description).build();
    }

    private static CallToolResult words(String text) {
        return CallToolResult.builder().addTextContent(text).build();
    }
}
