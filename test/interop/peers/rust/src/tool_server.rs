//! The MCP server, whose tools are those that mcp-called.ts calls.
use crate::serving;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone)]
struct Tea;

/// Serves the tools at /mcp until the process ends.
pub async fn serve(port: &str) {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Tea), sessions, StreamableHttpServerConfig::default());
    serving::listen_guarded(port.parse().expect("a port"), axum::Router::new().nest_service("/mcp", service)).await
}

impl ServerHandler for Tea {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let text = json!({ "text": { "type": "string" } });
        let numbers = json!({ "a": { "type": "integer" }, "b": { "type": "integer" } });
        let path = json!({ "path": { "type": "string" } });
        Ok(ListToolsResult::with_all_items(vec![
            tool("echo", "Says what it is told", text),
            tool("add", "Adds two numbers", numbers),
            tool("picture", "Answers with an image", json!({})),
            tool("fail", "Reports an error", json!({})),
            tool("brew", "Reports its progress", json!({})),
            tool("wait", "Works until it is canceled, and writes a file", path),
        ]))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(call.arguments.unwrap_or_default());
        let result = match call.name.as_ref() {
            "echo" => words(given["text"].as_str().unwrap_or_default()),
            "add" => CallToolResult::structured(json!({ "sum": given["a"].as_i64().zip(given["b"].as_i64()).map(|(a, b)| a + b) })),
            "picture" => CallToolResult::success(vec![ContentBlock::image("cG5n", "image/png")]),
            "fail" => CallToolResult::error(vec![ContentBlock::text("no tea left")]),
            "brew" => brew(context).await,
            _ => wait(given["path"].as_str().expect("a path"), context).await,
        };
        Ok(result.into())
    }
}

async fn brew(context: RequestContext<RoleServer>) -> CallToolResult {
    if let Some(token) = context.meta.get_progress_token() {
        for step in [1.0, 2.0] {
            let progress = ProgressNotificationParam::new(token.clone(), step).with_total(2.0);
            context.peer.notify_progress(progress).await.expect("to report the progress");
        }
    }
    words("brewed")
}

async fn wait(path: &str, context: RequestContext<RoleServer>) -> CallToolResult {
    std::fs::write(format!("{path}.begun"), "").expect("to write");
    context.ct.cancelled().await;
    std::fs::write(path, "").expect("to write");
    words("canceled")
}

fn words(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn tool(name: &'static str, description: &'static str, properties: Value) -> Tool {
    let schema = json!({ "type": "object", "properties": properties });
    Tool::new(name, description, Arc::new(schema.as_object().cloned().unwrap_or_default()))
}
