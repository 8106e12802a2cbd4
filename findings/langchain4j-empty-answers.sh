#!/usr/bin/env bash
# The A2A client of LangChain4j (langchain4j-agentic-a2a 1.14.1-beta24) returns an empty text if the agent's Task fails,
# and if it asks a question (input-required): without an exception, and without the text of the Task's status. A workflow
# of agents therefore continues with "", as if the agent had answered. The text of a completed Task is returned.
# Exits with 1 if the package behaves differently. Needs Java 17 or later, and Maven.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'END'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>try</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>dev.langchain4j</groupId>
      <artifactId>langchain4j-agentic-a2a</artifactId>
      <version>1.14.1-beta24</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
END
cat > Try.java <<'END'
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.langchain4j.agentic.AgenticServices;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;

public class Try {
    private static String url;

    public static void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        url = "http://127.0.0.1:" + server.getAddress().getPort();
        server.createContext("/", Try::handle);
        server.start();
        System.out.println("dev.langchain4j:langchain4j-agentic-a2a 1.14.1-beta24");
        System.out.println("expected: the text for completed; an exception, or the text of the status, for failed and input-required");
        var isAsSeen = true;
        for (var state : new String[] {"completed", "failed", "input-required"}) {
            var answer = answerTo(state);
            System.out.println("observed: " + state + " returns \"" + answer + "\"");
            isAsSeen &= answer.equals(state.equals("completed") ? "good day" : "");
        }
        server.stop(0);
        System.exit(isAsSeen ? 0 : 1);
    }

    private static String answerTo(String text) {
        try {
            var agent = AgenticServices.a2aBuilder(url).inputKeys("text").outputKey("answer").build();
            return String.valueOf(agent.invoke(Map.of("text", text)));
        } catch (Exception error) {
            return error.toString();
        }
    }

    /** Serves the card of an agent of A2A 0.3, whose Task ends in the state that the caller's text names. */
    private static void handle(HttpExchange exchange) throws IOException {
        var isCall = exchange.getRequestMethod().equals("POST");
        var body = new String(exchange.getRequestBody().readAllBytes());
        var answer = isCall ? answerOf(body) : """
            {"name": "agent", "description": "Greets", "version": "1.0.0", "protocolVersion": "0.3.0", "url": "%s/",
             "preferredTransport": "JSONRPC", "capabilities": {}, "skills": [],
             "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}""".formatted(url);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        var bytes = answer.getBytes();
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static String answerOf(String body) {
        var state = body.contains("\"failed\"") ? "failed" : body.contains("\"input-required\"") ? "input-required" : "completed";
        var id = body.replaceAll("(?s).*\"id\"\\s*:\\s*(\"[^\"]*\"|\\d+).*", "$1");
        var parts = "[{\"kind\": \"text\", \"text\": \"good day\"}]";
        var message = ", \"message\": {\"kind\": \"message\", \"messageId\": \"a\", \"role\": \"agent\", \"parts\": " + parts + "}";
        var artifacts = ", \"artifacts\": [{\"artifactId\": \"a\", \"parts\": " + parts + "}]";
        var isDone = state.equals("completed");
        return """
            {"jsonrpc": "2.0", "id": %s, "result": {"kind": "task", "id": "t", "contextId": "c",
             "status": {"state": "%s"%s}%s}}""".formatted(id, state, isDone ? "" : message, isDone ? artifacts : "");
    }
}
END
mvn --quiet --batch-mode dependency:build-classpath -Dmdep.outputFile=packages.txt > maven.log || { cat maven.log; exit 1; }
javac -d . -cp "$(cat packages.txt)" Try.java
timeout 60 java -cp ".:$(cat packages.txt)" Try
