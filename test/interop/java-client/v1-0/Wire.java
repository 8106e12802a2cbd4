import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.transport.spi.interceptors.ClientCallContext;
import io.a2a.jsonrpc.common.json.JsonUtil;
import java.util.Map;

/** What differs between the versions of the SDK: 1.0. */
class Wire {
    /** Headers of all requests: this version of the client sends none of them by itself. */
    static final Map<String, String> HEADERS = Map.of("A2A-Version", "1.0");
    static final ClientCallContext CONTEXT = new ClientCallContext(Map.of(), HEADERS);

    static String json(Object value) {
        try {
            return JsonUtil.toJson(value);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    static boolean isOver(ClientEvent event) {
        if (event instanceof TaskEvent told) return told.getTask().status().state().isFinal();
        if (event instanceof TaskUpdateEvent told) return told.getTask().status().state().isFinal();
        return event instanceof MessageEvent;
    }
}
