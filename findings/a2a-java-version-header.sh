#!/usr/bin/env bash
# The client of the A2A Java SDK 1.0.0.Alpha3 calls the operations of A2A 1.0 over JSON-RPC without the header A2A-Version,
# which 1.0 requires of clients: a request without it is one of 0.3, where no operation has such a name.
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
      <groupId>io.github.a2asdk</groupId>
      <artifactId>a2a-java-sdk-client</artifactId>
      <version>1.0.0.Alpha3</version>
      <exclusions>
        <exclusion>
          <groupId>io.github.a2asdk</groupId>
          <artifactId>a2a-java-sdk-http-client-vertx</artifactId>
        </exclusion>
      </exclusions>
    </dependency>
  </dependencies>
</project>
END
cat > Try.java <<'END'
import com.sun.net.httpserver.HttpServer;
import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;

public class Try {
    public static void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        var url = "http://127.0.0.1:" + server.getAddress().getPort();
        var card = """
            {"name": "agent", "description": "Greets", "version": "1.0.0", "capabilities": {}, "skills": [],
             "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
             "supportedInterfaces": [{"url": "%s/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}""".formatted(url);
        var answer = """
            {"jsonrpc": "2.0", "id": 1, "result": {"message":
              {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "good day"}]}}}""";
        var body = new AtomicReference<String>();
        var header = new AtomicReference<String>();
        server.createContext("/", exchange -> {
            var isCall = exchange.getRequestMethod().equals("POST");
            if (isCall) {
                body.set(new String(exchange.getRequestBody().readAllBytes()));
                header.set(exchange.getRequestHeaders().getFirst("A2A-Version"));
            }
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            var bytes = (isCall ? answer : card).getBytes();
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        var config = new ClientConfig.Builder().setStreaming(false).build();
        var client = Client.builder(A2A.getAgentCard(url)).clientConfig(config)
            .withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder())
            .addConsumer((event, agent) -> {}).build();
        client.sendMessage(A2A.toUserMessage("hello"));
        client.close();
        server.stop(0);
        var isCalled = body.get().contains("\"SendMessage\"");
        System.out.println("io.github.a2asdk:a2a-java-sdk-client 1.0.0.Alpha3");
        System.out.println("expected: SendMessage with A2A-Version: 1.0");
        System.out.println("observed: " + (isCalled ? "SendMessage" : body.get()) + " with A2A-Version: " + header.get());
        System.exit(isCalled && header.get() == null ? 0 : 1);
    }
}
END
mvn --quiet --batch-mode dependency:build-classpath -Dmdep.outputFile=packages.txt > maven.log || { cat maven.log; exit 1; }
javac -d . -cp "$(cat packages.txt)" Try.java
java -cp ".:$(cat packages.txt)" Try
