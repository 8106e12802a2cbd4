import java.util.Arrays;

/** Program of the MCP server and client. Arguments: a command of peer-program.ts, and its arguments. */
public class Main {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("mcp-serve")) ToolServer.serve(Integer.parseInt(args[1]));
        else ToolCaller.call(args[1], args[2], Arrays.copyOfRange(args, 3, args.length));
    }
}
