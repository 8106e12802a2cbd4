//! The MCP client: prints what a server answers, one line of JSON an event.
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, ServiceExt};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use tokio::sync::Notify;

/// Client whose user gives PEER_ANSWER to each question, and declines without it.
#[derive(Clone)]
struct Drinker {
    progressed: Arc<Notify>,
}

impl ClientHandler for Drinker {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("peer", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Ok(text) = std::env::var("PEER_ANSWER") else { return Ok(ElicitResult::new(ElicitationAction::Decline)) };
        let asked = serde_json::to_value(asked).expect("JSON");
        let members = asked["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let content: Value = members.keys().map(|name| (name.clone(), json!(text))).collect();
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        println!("{}", json!({ "progress": params.progress, "message": params.message }));
        self.progressed.notify_one();
    }
}

/// Does one operation. An error is printed as `{"error": …}`.
pub async fn call(url: &str, operation: &str, args: &[&str]) {
    if let Err(error) = try_call(url, operation, args).await {
        println!("{}", json!({ "error": error.to_string() }));
    }
}

async fn try_call(url: &str, operation: &str, args: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut headers = HashMap::new();
    if let Ok(key) = std::env::var("PEER_KEY") {
        headers.insert("x-api-key".parse()?, key.parse()?);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    let progressed = Arc::new(Notify::new());
    let handler = Drinker { progressed: progressed.clone() };
    let client = handler.serve(StreamableHttpClientTransport::from_config(config)).await?;
    if operation == "list" {
        println!("{}", serde_json::to_string(&client.list_all_tools().await?)?);
        return Ok(());
    }
    let inputs = serde_json::from_str(args[1])?;
    let tool = client.call_tool(CallToolRequestParams::new(args[0].to_string()).with_arguments(inputs));
    let result = match operation {
        "cancel" => tokio::select! {
            result = tool => result?,
            _ = progressed.notified() => return Err("canceled by its caller".into()),
        },
        _ => tool.await?,
    };
    println!("{}", serde_json::to_string(&result)?);
    Ok(())
}
