import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitFormRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;

/** MCP client. PEER_ANSWER is the answer to each question; without it the user declines. */
class ToolCaller {
    private static final String ANSWER = System.getenv("PEER_ANSWER");
    private static final String KEY = System.getenv("PEER_KEY");

    /** Does an operation, prints each answer, and ends the process. */
    static void call(String url, String operation, String[] args) {
        try {
            callTools(URI.create(url), operation, args);
        } catch (Throwable error) {
            var causes = new StringBuilder();
            for (var it = error; it != null; it = it.getCause()) causes.append(it).append(' ');
            print(Map.of("error", causes.toString()));
        }
        System.exit(0);
    }

    private static void callTools(URI url, String operation, String[] args) throws Exception {
        var requests = HttpRequest.newBuilder();
        if (KEY != null) requests.header("x-api-key", KEY);
        var transport = HttpClientStreamableHttpTransport.builder(url.resolve("/").toString()).endpoint(url.getPath())
            .requestBuilder(requests).build();
        var begun = new CompletableFuture<Void>();
        var client = McpClient.async(transport).requestTimeout(Duration.ofMinutes(3)).elicitation(ToolCaller::answer)
            .progressConsumer(progress -> {
                printProgress(progress);
                begun.complete(null);
                return Mono.empty();
            }).build();
        client.initialize().block();
        if (operation.equals("list")) {
            print(client.listTools().block());
            return;
        }
        var inputs = McpJsonDefaults.getMapper().readValue(args[1], Map.class);
        var request = CallToolRequest.builder(args[0]).arguments(inputs).progressToken("p").build();
        var result = client.callTool(request).toFuture();
        if (operation.equals("cancel")) {
            begun.join();
            result.cancel(true);
        }
        print(result.get());
    }

    private static void printProgress(ProgressNotification it) {
        print(Map.of("progress", it.progress(), "message", it.message() == null ? "" : it.message()));
    }

    /** Gives the answer for each member that the question asks for. */
    private static Mono<ElicitResult> answer(ElicitFormRequest asked) {
        if (ANSWER == null) return Mono.just(ElicitResult.builder(ElicitResult.Action.DECLINE).build());
        var content = new HashMap<String, Object>();
        for (var name : ((Map<?, ?>) asked.requestedSchema().get("properties")).keySet()) content.put(name.toString(), ANSWER);
        return Mono.just(ElicitResult.builder(ElicitResult.Action.ACCEPT).content(content).build());
    }

    private static synchronized void print(Object value) {
        try {
            System.out.println(McpJsonDefaults.getMapper().writeValueAsString(value));
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
