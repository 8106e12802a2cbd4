import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.transport.spi.interceptors.ClientCallContext;
import io.a2a.util.Utils;
import java.util.Map;

/** What differs between the versions of the SDK: 0.3. */
class Wire {
    /** Headers of all requests. */
    static final Map<String, String> HEADERS = Map.of();
    static final ClientCallContext CONTEXT = new ClientCallContext(Map.of(), HEADERS);

    static String json(Object value) {
        try {
            return Utils.OBJECT_MAPPER.writeValueAsString(value);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    static boolean isOver(ClientEvent event) {
        if (event instanceof TaskEvent told) return told.getTask().getStatus().state().isFinal();
        if (event instanceof TaskUpdateEvent told) return told.getTask().getStatus().state().isFinal();
        return event instanceof MessageEvent;
    }
}
