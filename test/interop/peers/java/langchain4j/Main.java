import dev.langchain4j.agentic.AgenticServices;
import java.util.List;
import java.util.Map;

/** Client of LangChain4j: an agent of another host, as one of its own. Arguments: `a2a-call BASE BINDING OPERATION …`. */
public class Main {
    public static void main(String[] args) {
        for (var text : List.of(args).subList(4, args.length)) {
            try {
                var agent = AgenticServices.a2aBuilder(args[1]).inputKeys("text").outputKey("answer").build();
                System.out.println(quoted(String.valueOf(agent.invoke(Map.of("text", text)))));
            } catch (Throwable error) {
                var causes = new StringBuilder();
                for (var it = error; it != null; it = it.getCause()) causes.append(it).append(' ');
                System.out.println("{\"error\": " + quoted(causes.toString()) + "}");
            }
        }
        System.exit(0);
    }

    private static String quoted(String text) {
        return "\"" + text.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"";
    }
}
