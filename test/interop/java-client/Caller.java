import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.spec.TaskQueryParams;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.net.URI;
import java.util.concurrent.CountDownLatch;

/**
 * Sends a text to an agent, and prints each event as a line of JSON, then the error for a Task that does not exist.
 * Arguments: base URL, JSONRPC or GRPC, send or stream, text.
 */
public class Caller {
    private static ManagedChannel channel;

    public static void main(String[] args) throws Exception {
        var base = URI.create(args[0]);
        var card = A2A.getAgentCard(base.resolve("/").toString(), base.getPath() + ".well-known/agent-card.json", Wire.HEADERS);
        var ended = new CountDownLatch(1);
        var config = new ClientConfig.Builder().setStreaming(args[2].equals("stream")).build();
        var builder = Client.builder(card).clientConfig(config);
        if (args[1].equals("GRPC"))
            builder.withTransport(GrpcTransport.class, new GrpcTransportConfigBuilder().channelFactory(Caller::connect));
        else builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder());
        builder.addConsumer((event, agent) -> {
            if (event instanceof MessageEvent said) System.out.println(Wire.json(said.getMessage()));
            if (event instanceof TaskEvent task) System.out.println(Wire.json(task.getTask()));
            if (event instanceof TaskUpdateEvent update) System.out.println(Wire.json(update.getTask()));
            if (Wire.isOver(event)) ended.countDown();
        });
        builder.streamingErrorHandler(error -> {
            if (error != null) System.out.println("stream: " + error);
            ended.countDown();
        });
        var client = builder.build();
        client.sendMessage(A2A.toUserMessage(args[3]), Wire.CONTEXT);
        ended.await();
        try {
            client.getTask(new TaskQueryParams("none"), Wire.CONTEXT);
        } catch (Exception error) {
            System.out.println("error: " + error + " " + error.getCause());
        }
        client.close();
        if (channel != null) channel.shutdownNow();
        System.exit(0);
    }

    /** Connects to the service on this machine, which finds the agent by the host that its card names. */
    private static ManagedChannel connect(String target) {
        var port = target.substring(target.lastIndexOf(':') + 1);
        channel = ManagedChannelBuilder.forTarget("dns:///127.0.0.1:" + port).overrideAuthority(target).usePlaintext().build();
        return channel;
    }
}
