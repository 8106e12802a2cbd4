//! Peers in Rust: an A2A agent and client on the `-lf` crates, and an MCP server and client on rmcp.
//! `test/interop/peers/peer-program.ts` describes the commands.
mod agent;
mod caller;
mod serving;
mod tool_caller;
mod tool_server;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["a2a-serve", binding, port, card_port, address] => serving::serve(binding, port, card_port, address).await,
        ["a2a-call", base, binding, operation, rest @ ..] => caller::call(base, binding, operation, rest).await,
        ["mcp-serve", port] => tool_server::serve(port).await,
        ["mcp-call", url, operation, rest @ ..] => tool_caller::call(url, operation, rest).await,
        _ => panic!("usage: see peer-program.ts; got {words:?}"),
    }
}
