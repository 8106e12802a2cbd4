/**
 * What the management API takes and answers, made of its OpenAPI document: `npm run client-types`.
 * @generated
 */
export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the public keys that verify agent cards and push notifications (RFC 7517). */
        get: operations["listSigningKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-notifications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a push notification of a registered agent. The content is read from the agent itself. */
        post: operations["receiveAgentNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Fetches the current card of an agent and reports its problems and the state of its signature. */
        get: operations["previewAgentCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the cards of called agents, ordered by URL. */
        get: operations["listAgentCards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-cards/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a pinned card, the card that waits to be accepted, and all changes. */
        get: operations["getAgentCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-cards/{id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts the card that was seen last: it becomes the pinned card, and calls continue. */
        post: operations["acceptAgentCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agent-messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a Message to the agent at a URL and streams its answer in the form of A2A 1.0.
         * @description Each event is a StreamResponse. A call that fails ends the stream with an event `error`, a problem as JSON. For longer work, start a conversation or a workflow.
         */
        post: operations["sendAgentMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists registered agents by name. */
        get: operations["listRegisteredAgents"];
        put?: never;
        /** Registers an agent elsewhere: reads and pins its card, and serves the agent here. */
        post: operations["createRegisteredAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one registered agent. */
        get: operations["getRegisteredAgent"];
        /** Replaces a registered agent: reads and pins its card again. */
        put: operations["replaceRegisteredAgent"];
        post?: never;
        /** Deletes a registered agent. Its Tasks can still be read. */
        delete: operations["deleteRegisteredAgent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Saves several workflows and other objects atomically.
         * @description Objects are saved before workflows, and deleted after them. What is unchanged gets no new revision.
         */
        post: operations["applyWorkflows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists brainstorms, most recently updated first. */
        get: operations["listBrainstorms"];
        put?: never;
        /** Starts a brainstorm and answers at once. */
        post: operations["startBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one brainstorm with its state, its passes, and the origin of each part. */
        get: operations["getBrainstorm"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approves a brainstorm: it ends with the state of its last complete pass. */
        post: operations["approveBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a brainstorm and reports the outcome at the active agent. */
        post: operations["cancelBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Streams the events of a brainstorm, from the first or after a cursor, until it awaits input or has ended. */
        get: operations["streamBrainstormEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/brainstorms/{id}/iterate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continues a brainstorm that has converged or failed.
         * @description A failed pass resumes with the agent that failed. An active brainstorm is left as it is.
         */
        post: operations["iterateBrainstorm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists conversations, most recently updated first. */
        get: operations["listConversations"];
        put?: never;
        /** Starts a conversation and answers at once. */
        post: operations["startConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one conversation with its turns. */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a conversation and the Task of its active agent immediately. */
        post: operations["cancelConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Streams the events of a conversation, from the first or after a cursor, until it is complete. */
        get: operations["streamConversationEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses a conversation after the current turn. */
        post: operations["pauseConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes a paused conversation. */
        post: operations["resumeConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Completes a conversation after the current turn; its outcome is `done`. */
        post: operations["stopConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/conversations/{id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Provides the next turn in place of the agent; a paused conversation stays paused. */
        post: operations["injectTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists credentials by name, without their secrets. */
        get: operations["listCredentials"];
        put?: never;
        /** Stores a new credential. */
        post: operations["createCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/credentials/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one credential, without its secret. */
        get: operations["getCredential"];
        /** Replaces a credential including its secret: a stored secret cannot get another destination. */
        put: operations["replaceCredential"];
        post?: never;
        /** Deletes a credential that no workflow, model, MCP server, agent or trigger names. */
        delete: operations["deleteCredential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists push deliveries, newest first. */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retries a delivery: a delivered one alone, any other immediately together with those after it. */
        post: operations["redeliverNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Streams the live events of your Tasks, runs and conversations; the WebSocket at /events streams the same. */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/expressions/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Checks an expression, or a string that contains some, and lists the variables at its path.
         * @description The definition may have other errors. Without a definition or a path, only the syntax and the names of variables are checked.
         */
        post: operations["checkExpression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the files of the caller, newest first. */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a file; also with HEAD. */
        get: operations["readFile"];
        put?: never;
        post?: never;
        /** Deletes a file that no Task names. */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}/urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creates an address that opens a file without a key for a limited time. */
        post: operations["createFileUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generates a workflow from a description with a model, without saving it.
         * @description A definition with errors goes back to the model with its problems, at most twice. With `Accept: text/event-stream` the answer is a stream: `generate.started` {model}, `generate.progress` {text}, `generate.draft` {workflow, problems, attempt}, `generate.repair` {attempt, problems}, and last `done` with the JSON answer, or `error` with a problem. A request takes 120 seconds at most; closing it ends the call of the model.
         */
        post: operations["generateWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the open questions of the caller's runs, oldest first.
         * @description A question is listed until it is answered, or its run continues without an answer.
         */
        get: operations["listQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists all keys, also expired ones, without their secrets. */
        get: operations["listKeys"];
        put?: never;
        /** Creates a key; only this answer shows it. */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a key: within two seconds, all replicas reject it. */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rotates a key: the new one has the same name and scopes, the old one expires after the overlap. */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists limits by name. */
        get: operations["listLimits"];
        put?: never;
        /** Creates a limit, which all replicas share. */
        post: operations["createLimit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/limits/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one limit. */
        get: operations["getLimit"];
        /** Replaces a limit. Work that waits for it begins by the new values. */
        put: operations["replaceLimit"];
        post?: never;
        /** Deletes a limit. Work that waits for it begins. */
        delete: operations["deleteLimit"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists MCP servers by name, with their last known state. */
        get: operations["listMcpServers"];
        put?: never;
        /** Stores a new MCP server. */
        post: operations["createMcpServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Queries one MCP server and returns its tools and the changes since they were pinned. */
        get: operations["getMcpServer"];
        /** Replaces an MCP server; its pinned tools stay unchanged. */
        put: operations["replaceMcpServer"];
        post?: never;
        /** Deletes an MCP server and its pinned tools. */
        delete: operations["deleteMcpServer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts the tools that were seen: they become the pinned tools, and none is blocked. */
        post: operations["acceptMcpServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{name}/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Calls a tool of an MCP server once.
         * @description A tool without `readOnlyHint` needs `confirmed`. Tools that agents may not call are refused. The call takes at most 60 seconds and is not repeated. An error of the tool is a result (200) with `ok: false`.
         */
        post: operations["callTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists models by name. */
        get: operations["listModels"];
        put?: never;
        /** Stores a new model. */
        post: operations["createModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one model. */
        get: operations["getModel"];
        /** Replaces a model; calls under way keep the previous definition. */
        put: operations["replaceModel"];
        post?: never;
        /** Deletes a model that no workflow names. */
        delete: operations["deleteModel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tests a stored model.
         * @description The prompt is fixed, and the test takes at most 30 seconds. The model is asked for at most 64 tokens; a provider that refuses such a limit is asked again without it. Nothing is stored, and the tokens are not part of `/api/usage`. A failure of the model is a result (200) with `ok: false`.
         */
        post: operations["testModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tests a model without storing it.
         * @description The prompt is fixed, and the test takes at most 30 seconds. The model is asked for at most 64 tokens; a provider that refuses such a limit is asked again without it. Nothing is stored, and the tokens are not part of `/api/usage`. A failure of the model is a result (200) with `ok: false`.
         */
        post: operations["testUnsavedModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reports the caller's failures by cause, waiting work, latency and cost.
         * @description Reads at most 100,000 runs of the range and as many of the range before, and 20,000 of each workflow, newest first.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists runs, most recently updated first. */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports runs as CSV, most recently updated first, at most 10000.
         * @description For older runs, repeat the request with the last `updatedAt` as `until`, and that `runId` as `after`.
         */
        get: operations["exportRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one run with the state of every node. */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers a question of a node; the run continues. */
        post: operations["answerQuestion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a run and reports the outcome for each remote Task. */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/cost": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the tokens and the cost of a run as a tree of Tasks.
         * @description Contains the Tasks that have called models, or whose Tasks below have. Empty for a run without calls.
         */
        get: operations["getRunCost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compares a run with another run, or a rerun with its original run. */
        get: operations["diffRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Streams the events of a run, from the first or after a cursor, until the run has ended. */
        get: operations["streamRunEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/forks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the reruns of a run. */
        get: operations["listForks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the instances of a run's nodes: one per node, iteration and list entry. */
        get: operations["listInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/nodes/{node}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one node of a run with its input. */
        get: operations["getRunNode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a new run that takes over results of an ended run.
         * @description Runs the nodes of `from`, and with `failed` the failed nodes, again with all that follow; without a body, all nodes. Other `inputs` or another `revision` also rerun the nodes that they change.
         */
        post: operations["startRerun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/workflow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the workflow as it was when the run started. */
        get: operations["getRunWorkflow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancels several runs and reports the outcome of each.
         * @description Acts on the runs that the body names, or on those that the query parameters select. Without `status`, these are runs that have not ended.
         */
        post: operations["cancelRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts top-level runs. */
        get: operations["countRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reruns several ended runs and reports the outcome of each.
         * @description Acts on the runs that the body names, or on those that the query parameters select. Without `status`, these are runs that have ended.
         */
        post: operations["rerunRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists schedules by name. */
        get: operations["listSchedules"];
        put?: never;
        /** Creates a schedule, which runs a workflow at given times. */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one schedule. */
        get: operations["getSchedule"];
        /** Replaces a schedule. The caller becomes the owner of the runs to come. */
        put: operations["replaceSchedule"];
        post?: never;
        /** Deletes a schedule with its history. Its runs stay, and those under way continue. */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{name}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a run for each time of a period of the past. */
        post: operations["backfillSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{name}/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the history of a schedule, newest first: each time, and what came of it. */
        get: operations["listFirings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pauses a schedule. Times that come meanwhile are not taken later. */
        post: operations["pauseSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes a paused schedule from its next time on. */
        post: operations["resumeSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/{name}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a run of a schedule now, even if it is paused or an earlier run has not ended. */
        post: operations["runSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schedules/times": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns the next ten times of a schedule that is not saved yet. */
        post: operations["listTimes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the caller, and until when it is signed in. */
        get: operations["getSession"];
        put?: never;
        /**
         * Signs a browser in with the key or token of this request, for twelve hours at most.
         * @description The answer sets a cookie that scripts cannot read. It counts only with `X-Requested-With: parley-console`, and ends with the key or token.
         */
        post: operations["createSession"];
        /** Signs the browser out: the session of the request ends at every replica. */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the events of a Task, from its first or after one, page by page. */
        get: operations["listTaskEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the model calls of a Task of yours. Needs the scope `prompts` or `admin`. */
        get: operations["listPrompts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/prompts/{call}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns what a model was sent in one call, and what it answered. Needs the scope `prompts` or `admin`. */
        get: operations["getPrompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creates a ticket for the WebSocket at /events; it is valid once, for thirty seconds. */
        post: operations["createTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists triggers by name. */
        get: operations["listTriggers"];
        put?: never;
        /** Creates a trigger, which runs a workflow upon events. */
        post: operations["createTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one trigger. */
        get: operations["getTrigger"];
        /** Replaces a trigger. The caller becomes the owner of the runs to come; the address of the webhook stays. */
        put: operations["replaceTrigger"];
        post?: never;
        /** Deletes a trigger with its deliveries. Its runs stay, and those under way continue. */
        delete: operations["deleteTrigger"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{name}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the deliveries of a trigger, newest first: each with what came of it. */
        get: operations["listTriggerDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/triggers/{name}/deliveries/{number}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a delivery again, as a new one: the trigger decides about its content as it is now. */
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stores files.
         * @description A form with 1 to 20 parts named `file`, or one file as the body, named by `filename` of `Content-Disposition`. Also as `POST /api/files`.
         */
        post: operations["uploadFiles"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reports tokens and cost by day, workflow, model or caller.
         * @description The sums of a day stay the same when runs are deleted.
         */
        get: operations["reportUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists workflows by name.
         * @description If more workflows exist, `Next-Page-Token` holds the token of the next page, and `Link` its URL.
         */
        get: operations["listWorkflows"];
        put?: never;
        /** Creates a workflow. */
        post: operations["createWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns one workflow.
         * @description Its revision is the ETag of the answer.
         */
        get: operations["getWorkflow"];
        /** Creates or replaces the workflow that the path names. */
        put: operations["saveWorkflow"];
        post?: never;
        /** Deletes a workflow; its runs stay. */
        delete: operations["deleteWorkflow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reports since which revision the caller's runs of a workflow fail.
         * @description Counts the failed runs since the last completed one. Canceled runs and open runs do not count.
         */
        get: operations["getWorkflowFailures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the revisions of a workflow, newest first. */
        get: operations["listWorkflowRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/revisions/{revision}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one revision of a workflow. */
        get: operations["getWorkflowRevision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/revisions/{revision}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compares a revision of a workflow with another one. */
        get: operations["diffWorkflowRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/revisions/{revision}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Saves the definition of an earlier revision as the newest one. */
        post: operations["restoreWorkflowRevision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a run and streams its events until it has ended.
         * @description A body that is empty or not JSON means no inputs. Disconnecting does not stop the run.
         */
        post: operations["runWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{name}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts a run and answers at once. */
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Checks a definition without saving it. */
        post: operations["checkWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the ways to sign in to the console. */
        get: operations["getSignInOptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a file by an address that its owner created; also with HEAD. */
        get: operations["readSignedFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports that the process answers. */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports if the service accepts requests. */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/startup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports if the service has started. */
        get: operations["getStartup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a delivery of a webhook, which starts a run. A repetition gets the same answer. */
        post: operations["receiveDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the metrics in the format of Prometheus. */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schemas/workflow.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the JSON Schema (2020-12) of workflow definitions. */
        get: operations["getWorkflowSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptBody: {
            /**
             * @description Hash of the card that was reviewed; a different card is not accepted.
             * @example qK3l0x7pS9n1
             */
            hash?: string;
        };
        AgentMessageBody: {
            /**
             * @description A Message of A2A 1.0.
             * @example {
             *       "messageId": "m1",
             *       "role": "ROLE_USER",
             *       "parts": [
             *         {
             *           "text": "Hello"
             *         }
             *       ]
             *     }
             */
            message: {
                [key: string]: unknown;
            };
            /**
             * @description Base URL of the agent, or the URL of its card.
             * @example https://agents.example/critic
             */
            url: string;
        };
        AgentPolicyBody: {
            /**
             * @description Names of the callers that may send Messages; default: all of the tenant.
             * @example [
             *       "ann"
             *     ]
             */
            callers?: string[];
            /**
             * @description Maximum turns at the agent at the same time, over all replicas. Further ones wait for `wait` seconds.
             * @example 4
             */
            concurrency?: number;
            /**
             * @description Reaction to a Task that the agent no longer knows, or a Message that it may or may not have received. `fail`: the Task fails. `resend`: the Message is sent again. `ask`: the Task asks its caller.
             * @default fail
             * @enum {string}
             */
            forgotten: "fail" | "resend" | "ask";
            /**
             * @description Names of request headers that are passed on, in lower case; never credentials or headers of the protocol.
             * @example [
             *       "x-request-id"
             *     ]
             */
            headers?: string[];
            /**
             * @description Time limit of the answer to one Message, in seconds; default: none.
             * @example 3600
             */
            limit?: number;
            /**
             * @description Maximum bytes of a Message as JSON; default: the limit of the service.
             * @example 65536
             */
            maxBytes?: number;
            /**
             * @description Operations that callers may use; default: all.
             * @example [
             *       "SendMessage",
             *       "GetTask"
             *     ]
             */
            methods?: string[];
            /**
             * @description Seconds without an event after which a Task holds no connection, if the agent offers push notifications and PUBLIC_URL is set; 0: never.
             * @default 30
             * @example 30
             */
            park: number;
            /**
             * @description Maximum Messages to the agent in a minute, over all replicas, evenly spaced.
             * @example 60
             */
            perMinute?: number;
            /**
             * @description Scopes of which a caller must have one. Calls by workflows and other agents of this service have none.
             * @example [
             *       "workflows"
             *     ]
             */
            scopes?: string[];
            /**
             * @description Ids of skills: a Message must name one in `metadata.skillId`; default: any.
             * @example [
             *       "translate"
             *     ]
             */
            skills?: string[];
            /**
             * @description Seconds for which an unreachable agent is awaited before the Task fails.
             * @default 60
             * @example 60
             */
            wait: number;
        };
        AnswerBody: {
            /**
             * @description Node or instance that asks.
             * @example gate
             */
            node: string;
            /**
             * @description A2A Parts: one data Part if the question has a form, else text.
             * @example [
             *       {
             *         "data": {
             *           "decision": "yes"
             *         }
             *       }
             *     ]
             */
            parts: {
                [key: string]: unknown;
            }[];
        };
        ApiKeyBody: {
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /**
             * @default header
             * @enum {string}
             */
            in: "header" | "query" | "cookie";
            /** @enum {string} */
            kind: "api-key";
            /** @example partner */
            name: string;
            /**
             * @description Name of the header, query parameter or cookie, unless the card of the agent names another place.
             * @default X-API-Key
             */
            parameter: string;
            /** @example k3y */
            value: string;
        };
        ApiKeyReplacementBody: {
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /**
             * @default header
             * @enum {string}
             */
            in: "header" | "query" | "cookie";
            /** @enum {string} */
            kind: "api-key";
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /**
             * @description Name of the header, query parameter or cookie, unless the card of the agent names another place.
             * @default X-API-Key
             */
            parameter: string;
            /** @example k3y */
            value: string;
        };
        AppliedObject: {
            /** @enum {string} */
            action: "created" | "updated" | "unchanged" | "deleted";
            /** @enum {string} */
            kind: "agent" | "credential" | "model" | "mcp-server" | "key" | "schedule" | "trigger" | "limit";
            /** @example translator */
            name: string;
            /** @description Warnings for the author; absent if there are none. */
            problems?: components["schemas"]["ObjectProblemView"][];
            /**
             * @description Revision of the object now; absent if there is none.
             * @example 2026-11-30T08:00:00.000Z
             */
            revision?: string;
        };
        AppliedView: {
            /** @description Objects of other kinds by kind and name; absent if the request has none. */
            objects?: components["schemas"]["AppliedObject"][];
            workflows: components["schemas"]["AppliedWorkflow"][];
        };
        AppliedWorkflow: {
            /** @enum {string} */
            action: "created" | "updated" | "unchanged" | "deleted";
            /** @example greeting */
            name: string;
            /** @description Warnings for the author; absent if there are none. */
            problems?: components["schemas"]["WorkflowProblemView"][];
            /**
             * @description Revision of the workflow now; absent if it was deleted.
             * @example 8
             */
            revision?: string;
        };
        ApplyBody: {
            /**
             * @description False: nothing is saved if a workflow or object would replace a different one without this mark, unless its expected revision is sent.
             * @default true
             */
            adopt: boolean;
            /**
             * @description Mark of the origin of the workflows and objects, such as a folder.
             * @example team-a/workflows
             */
            mark?: string;
            /** @description Objects of other kinds, which are saved before the workflows that name them; they need the scope `admin`. Absent: `prune` deletes workflows only. */
            objects?: components["schemas"]["SentObject"][];
            /**
             * @description True to delete workflows and objects that have the same mark and are not in the request.
             * @default false
             */
            prune: boolean;
            workflows: components["schemas"]["SentWorkflow"][];
        };
        BackfillBody: {
            /**
             * Format: date-time
             * @example 2026-01-01T00:00:00Z
             */
            from: string;
            /**
             * @description `queue` starts one run after another, `allow` all at once.
             * @default queue
             * @enum {string}
             */
            overlap: "queue" | "allow";
            /**
             * Format: date-time
             * @example 2026-01-31T00:00:00Z
             */
            to: string;
        };
        BackfillView: {
            /**
             * @description Number of runs that are started.
             * @example 31
             */
            count: number;
        };
        BasicBody: {
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "basic";
            /** @example partner */
            name: string;
            /** @example p4ssw0rd */
            password: string;
            /** @example ann */
            username: string;
        };
        BasicReplacementBody: {
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "basic";
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /** @example p4ssw0rd */
            password: string;
            /** @example ann */
            username: string;
        };
        BearerBody: {
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "bearer";
            /** @example partner */
            name: string;
            /** @example t0k3n */
            token: string;
        };
        BearerReplacementBody: {
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "bearer";
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /** @example t0k3n */
            token: string;
        };
        BrainstormAgentBody: {
            /**
             * @description An agent's URL, a path of the directory, or the name of a workflow.
             * @example workflows/architect
             */
            agent: string;
            /**
             * @description Name of a stored credential, for an agent named by its URL.
             * @example architect-key
             */
            auth?: string;
            /**
             * @description Name of a stored credential with hosts. For an agent of this service it replaces the key of the models, for a remote agent it has the effect of `auth`.
             * @example team-key
             */
            credential_ref?: string;
            /** @example llama-4 */
            model?: string;
            /** @example ann */
            name?: string;
            /** @example openai-compatible */
            provider?: string;
            /**
             * @description Role of the agent; default: by position.
             * @enum {string}
             */
            role?: "build" | "review" | "refine" | "devils_advocate";
            /**
             * @description Names of Parley's skills (accessibility, cost, data, operations, performance, product, security, testing) or of skills of the agent's card, or instructions in words.
             * @example [
             *       "security"
             *     ]
             */
            skills?: string[];
        };
        BrainstormAgentView: {
            /** @example workflows/architect */
            agent: string;
            /** @example llama-4 */
            model: string;
            /** @example ann */
            name: string;
            /** @example openai-compatible */
            provider: string;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
            /**
             * @example [
             *       "security"
             *     ]
             */
            skills: string[];
        };
        BrainstormBody: {
            agents: components["schemas"]["BrainstormAgentBody"][];
            /** @example A library that lends tools */
            idea: string;
            /** @description Model settings of all agents; they take precedence over the entries in `agents`. */
            llmConfig?: components["schemas"]["LlmConfigBody"];
            /** @default 10 */
            maxIterations: number;
            /**
             * @description System prompt of every agent; replaces the built-in one.
             * @example You develop an idea together with others.
             */
            systemPrompt?: string;
            /**
             * @description Milliseconds without an event after which an agent times out; default 120,000.
             * @example 120000
             */
            timeoutMs?: number;
        };
        BrainstormFailure: {
            /** @example ann */
            agent?: string;
            /** @example the agent gave no state */
            message: string;
        };
        BrainstormId: {
            /**
             * @description A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
        };
        BrainstormPage: {
            brainstorms: components["schemas"]["BrainstormSummary"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        BrainstormStateView: {
            /** @example A catalogue, a room and members. */
            architecture: string;
            /**
             * @example [
             *       "Tools are returned"
             *     ]
             */
            assumptions: string[];
            execution_plan: components["schemas"]["PlanStepView"][];
            /** @example A library that lends tools */
            idea: string;
            meta: components["schemas"]["StateMeta"];
            metrics: components["schemas"]["StateMetrics"];
            /**
             * @example [
             *       "Who pays for repairs?"
             *     ]
             */
            open_questions: string[];
            risks: components["schemas"]["RiskView"][];
        };
        BrainstormStatusReport: {
            /**
             * @description A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
            /** @enum {string} */
            status: "active" | "converged" | "approved" | "failed" | "canceled";
            stopped?: components["schemas"]["StoppedAgentView"][];
        };
        BrainstormSummary: {
            /**
             * @description A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /** @example A library that lends tools */
            idea: string;
            /**
             * @description Number of the last complete pass.
             * @example 2
             */
            iteration: number;
            /** @enum {string} */
            status: "active" | "converged" | "approved" | "failed" | "canceled";
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        BrainstormView: {
            agents: components["schemas"]["BrainstormAgentView"][];
            /**
             * @description A2A taskId of the brainstorm.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            brainstormId: string;
            /**
             * @description Reason for the convergence, in one sentence.
             * @example All agents agree.
             */
            convergence?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["BrainstormFailure"];
            /**
             * @description Number of the last complete pass.
             * @example 2
             */
            iteration: number;
            /** @example 2 */
            maxIterations: number;
            passes: components["schemas"]["PassView"][];
            /** @description Agent that last set each part of the state, by path, as in `risks[0]`. */
            provenance: {
                [key: string]: components["schemas"]["SourceView"];
            };
            state: components["schemas"]["BrainstormStateView"];
            /** @enum {string} */
            status: "active" | "converged" | "approved" | "failed" | "canceled";
            stopped?: components["schemas"]["StoppedAgentView"][];
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        BudgetBody: {
            /**
             * @default stop
             * @enum {string}
             */
            onExceeded: "stop" | "ask" | "warn";
            /** @example 200000 */
            tokens?: number;
            /** @example 1.5 */
            usd?: number;
        };
        BulkBody: {
            /**
             * @description True to report what would be done, and change nothing.
             * @example true
             */
            dryRun?: boolean;
            /**
             * @description Runs to act on; absent: the runs that the query parameters select.
             * @example [
             *       "019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e"
             *     ]
             */
            ids?: string[];
        };
        BulkOutcome: {
            /**
             * @description New run, after a rerun.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            newRunId?: string;
            /**
             * @description `possible`: a dry run found nothing against it. `pending`: the cancel continues, or the time of the request or an error ended it before this run; repeat the request.
             * @example done
             * @enum {string}
             */
            outcome: "done" | "possible" | "refused" | "pending";
            /**
             * @description Reason, if the action was refused or is pending.
             * @example the run has ended: it is completed
             */
            reason?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @description Status of the run before the action; absent if it is unknown.
             * @example completed
             * @enum {string}
             */
            status?: "running" | "input-required" | "completed" | "failed" | "canceled";
        };
        BulkReport: {
            /**
             * @description True if nothing was changed.
             * @example false
             */
            dryRun: boolean;
            /**
             * @description True if the filter selects more runs than one request acts on (500).
             * @example false
             */
            more: boolean;
            /** @description Outcome of each selected run. */
            runs: components["schemas"]["BulkOutcome"][];
        };
        BulkRerunBody: {
            /**
             * @description True to report what would be done, and change nothing.
             * @example true
             */
            dryRun?: boolean;
            /**
             * @description True if only failed nodes run again, with all that follow them; by default all nodes run.
             * @example true
             */
            failed?: boolean;
            /**
             * @description Runs to act on; absent: the runs that the query parameters select.
             * @example [
             *       "019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e"
             *     ]
             */
            ids?: string[];
            /**
             * @description True to run the newest revision of each workflow; by default the revision of each run.
             * @example true
             */
            newest?: boolean;
        };
        CanceledNode: {
            /** @example https://agents.example/writer */
            agentUrl: string;
            /**
             * @description Instance, if the node has more than one.
             * @example writer@2
             */
            instance?: string;
            /** @example writer */
            node: string;
            /** @enum {string} */
            outcome: "acknowledged" | "refused" | "unreachable" | "not-started" | "unknown";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
        };
        CanceledRun: {
            children: components["schemas"]["CanceledNode"][];
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
        };
        CardChangeView: {
            /** Format: date-time */
            acceptedAt?: string;
            /**
             * @description Caller who accepted the change; absent if the policy accepted it.
             * @example ann
             */
            acceptedBy?: string;
            /**
             * @description path, kind, significant, before?, after?
             * @example [
             *       {
             *         "path": "/name",
             *         "kind": "changed",
             *         "significant": true,
             *         "before": "Translator",
             *         "after": "Interpreter"
             *       }
             *     ]
             */
            changes: {
                [key: string]: unknown;
            }[];
            /** Format: date-time */
            firstSeenAt: string;
            /** @example qK3l0x7pS9n1 */
            from: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** @description True if the difference affects callers. */
            significant: boolean;
            /**
             * @description Number of times the change was seen.
             * @example 1
             */
            times: number;
            /** @example x0pS9n1qK3l7 */
            to: string;
        };
        CardDetailView: {
            /** Format: date-time */
            acceptedAt?: string;
            /** @example ann */
            acceptedBy?: string;
            /** @description True if calls are rejected until the change is accepted. */
            blocked: boolean;
            /**
             * @description Pinned card; null if the agent was accepted without a card.
             * @example {
             *       "name": "Translator",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            card: {
                [key: string]: unknown;
            } | null;
            /** @description Changes, newest first. */
            changes: components["schemas"]["CardChangeView"][];
            /** Format: date-time */
            firstSeenAt: string;
            /** @example qK3l0x7pS9n1 */
            hash: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** @example Translator */
            name: string;
            /**
             * @description Card that waits to be accepted; null if the agent no longer has one.
             * @example {
             *       "name": "Interpreter",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            seenCard?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Hash of the card that waits to be accepted.
             * @example x0pS9n1qK3l7
             */
            seenHash?: string;
            /**
             * @description `changed`: a card that differs from the pinned one was seen and is not accepted yet.
             * @enum {string}
             */
            status: "pinned" | "changed";
            /** @example https://agent.example.com/a2a */
            url: string;
        };
        CardPageView: {
            cards: components["schemas"]["CardView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        CardPreviewView: {
            /**
             * @description AgentCard in the form of A2A 1.0; absent if none could be read.
             * @example {
             *       "name": "Translator",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            card?: {
                [key: string]: unknown;
            };
            /**
             * @description URL of the card; absent if there is none.
             * @example https://agent.example.com/a2a/.well-known/agent-card.json
             */
            cardUrl?: string;
            /**
             * @description id, status and blocked of the pinned card; same: true if the card equals it.
             * @example {
             *       "id": "0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11",
             *       "status": "pinned",
             *       "blocked": false,
             *       "same": true
             *     }
             */
            pin?: {
                [key: string]: unknown;
            };
            problems: components["schemas"]["CardProblemView"][];
            /**
             * @description state (valid, invalid, untrusted, unsigned) and signatures, one report each.
             * @example {
             *       "state": "valid",
             *       "signatures": [
             *         {
             *           "state": "valid",
             *           "alg": "ES256",
             *           "kid": "k1"
             *         }
             *       ]
             *     }
             */
            signature?: {
                [key: string]: unknown;
            };
            /** @example https://agent.example.com/a2a */
            url: string;
            /**
             * @description A2A version of the card.
             * @enum {string}
             */
            version?: "1.0" | "0.3" | "pre-1.0";
        };
        CardProblemView: {
            /** @example must be a string */
            detail: string;
            /** @enum {string} */
            level: "error" | "warning";
            /**
             * @description Path of the member; `''` for the whole card.
             * @example skills[0].id
             */
            path: string;
        };
        CardView: {
            /** Format: date-time */
            acceptedAt?: string;
            /** @example ann */
            acceptedBy?: string;
            /** @description True if calls are rejected until the change is accepted. */
            blocked: boolean;
            /** Format: date-time */
            firstSeenAt: string;
            /** @example qK3l0x7pS9n1 */
            hash: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /** Format: date-time */
            lastSeenAt: string;
            /** @example Translator */
            name: string;
            /**
             * @description Hash of the card that waits to be accepted.
             * @example x0pS9n1qK3l7
             */
            seenHash?: string;
            /**
             * @description `changed`: a card that differs from the pinned one was seen and is not accepted yet.
             * @enum {string}
             */
            status: "pinned" | "changed";
            /** @example https://agent.example.com/a2a */
            url: string;
        };
        ChallengeView: {
            /** @example 3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P */
            challenge: string;
        };
        ComparedInputView: {
            /**
             * @description At most 2,000 characters. JSON, unless it is a text.
             * @example coffee
             */
            after?: string;
            /**
             * @description At most 2,000 characters. JSON, unless it is a text.
             * @example tea
             */
            before?: string;
            /** @example topic */
            path: string;
        };
        ComparedNodeView: {
            /** @example 1 */
            attempts: number;
            /**
             * @description Milliseconds.
             * @example 1250
             */
            durationMs?: number;
            /**
             * @description At most 2,000 characters.
             * @example the model gave no answer
             */
            error?: string;
            /**
             * @description Output, if it differs. At most 2,000 characters.
             * @example Hello, world!
             */
            output?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
        };
        ComparedRunView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Milliseconds from start to end; absent before the end.
             * @example 1250
             */
            durationMs?: number;
            /**
             * @description At most 2,000 characters.
             * @example node "writer": the model gave no answer
             */
            error?: string;
            /**
             * @description Original run, if this run is a rerun.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /** @example 7 */
            revision?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
            /** @example greeting */
            workflow: string;
        };
        ConcurrencyBody: {
            /**
             * @description CEL expression: each value has a limit of its own.
             * @example inputs.customer
             */
            key?: string;
            /** @example 1 */
            limit: number;
            /**
             * @default wait
             * @enum {string}
             */
            onFull: "wait" | "skip" | "cancel-oldest";
        };
        ConversationBody: {
            /**
             * @description The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent. It receives the last text after the end.
             * @example workflows/archive
             */
            announce?: string;
            /**
             * @description Names of stored credentials, by `requester`, `target` and `announce`, for agents named by URL.
             * @example {
             *       "target": "partner"
             *     }
             */
            auth?: components["schemas"]["ConversationCredentials"];
            /**
             * @description How remote agents get the prompt of their turn and their own earlier texts: `text`, as a text Part before the other side's text, or `none`. Agents of the service, and agents whose card declares the extension `urn:parley:extension:conversation:v1`, get both in the Message's metadata.
             * @default none
             * @enum {string}
             */
            instructions: "text" | "none";
            /** @default 5 */
            maxTurns: number;
            /**
             * @description First message of the requester.
             * @example What do you think of this verse?
             */
            message: string;
            /**
             * @description The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent. If absent, the target gets no reply.
             * @example poet
             */
            requester?: string;
            /**
             * @description The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent.
             * @example critic
             */
            target: string;
            /**
             * @description Time limit of one turn or of the announcement, in milliseconds.
             * @default 60000
             */
            timeoutMs: number;
        };
        ConversationCredentials: {
            /** @example partner */
            announce?: string;
            /** @example partner */
            requester?: string;
            /** @example partner */
            target?: string;
        };
        ConversationDetail: {
            /** @enum {string} */
            announcement?: "delivered" | "silenced" | "failed";
            /**
             * @description A2A taskId of the conversation.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            conversationId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["ConversationFailure"];
            /** @example 5 */
            maxTurns: number;
            origin?: components["schemas"]["ConversationOrigin"];
            /** @enum {string} */
            outcome?: "done" | "skipped" | "max_turns" | "error" | "canceled" | "timeout";
            /** @description Present while the conversation is paused or waits for a person to answer a question of an agent. */
            paused?: boolean;
            /**
             * @description Question of an agent that a person has to answer before the next turn, by a Message to the Task.
             * @example The agent "poet" asks: May the tool "web/publish" be called?
             */
            question?: string;
            /** @example poet */
            requester: string;
            /** @enum {string} */
            status: "active" | "complete";
            /** @example critic */
            target: string;
            /**
             * @description Time limit of one turn, in milliseconds.
             * @example 60000
             */
            timeoutMs: number;
            turns: components["schemas"]["ConversationTurn"][];
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        ConversationFailure: {
            /** @example AGENT_NOT_FOUND */
            code: string;
            /** @example there is no agent "critic" */
            message: string;
            /** @description True if a retry of the turn may succeed. */
            retryable: boolean;
            /** @example 3 */
            turn: number;
        };
        ConversationId: {
            /**
             * @description A2A taskId of the conversation.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            conversationId: string;
        };
        ConversationOrigin: {
            /**
             * @description Id of the tool call by which the model of an `agent` node started the conversation.
             * @example call_1
             */
            call: string;
            /**
             * @description A2A taskId of the agent.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            taskId: string;
        };
        ConversationPage: {
            conversations: components["schemas"]["ConversationSummary"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        ConversationSummary: {
            /**
             * @description A2A taskId of the conversation.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            conversationId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /** @example 5 */
            maxTurns: number;
            origin?: components["schemas"]["ConversationOrigin"];
            /** @enum {string} */
            outcome?: "done" | "skipped" | "max_turns" | "error" | "canceled" | "timeout";
            /** @description Present while the conversation is paused or waits for a person to answer a question of an agent. */
            paused?: boolean;
            /** @example poet */
            requester: string;
            /** @enum {string} */
            status: "active" | "complete";
            /** @example critic */
            target: string;
            /**
             * @description Time limit of one turn, in milliseconds.
             * @example 60000
             */
            timeoutMs: number;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
        };
        ConversationTurn: {
            /** @example poet */
            fromAgent: string;
            /** @example It does not rhyme yet. */
            text: string;
            /** @example critic */
            toAgent: string;
            /**
             * @description Time of the turn, in epoch milliseconds.
             * @example 1769851800000
             */
            ts: number;
            /**
             * @description Number of the turn, from 0.
             * @example 0
             */
            turn: number;
        };
        CostTask: {
            /**
             * @description Path of the agent of the Task, under `/a2a`.
             * @example workflows/greeting/nodes/writer
             */
            agent: string;
            /**
             * @description Attempt of the instance, from 1.
             * @example 1
             */
            attempt?: number;
            /**
             * @description Number of calls from the run to the Task.
             * @example 1
             */
            depth: number;
            /**
             * @description Instance of the node, if a run made the call.
             * @example writer
             */
            instance?: string;
            /**
             * @description Task that made the call; absent for the run itself.
             * @example 019a2b3c-0000-7000-8000-000000000000
             */
            parentTaskId?: string;
            /** @example 019a2b3c-0000-7000-8000-000000000001 */
            taskId: string;
            /** @description Sums of the model calls of the Task and of all Tasks below it. */
            usage: components["schemas"]["UsageView"];
        };
        CredentialListView: {
            credentials: components["schemas"]["CredentialView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        CredentialView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Origins that may receive the credential.
             * @example [
             *       "https://api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "api-key" | "bearer" | "basic" | "oauth2-client-credentials";
            /** @description Last failure; replacing the credential clears it. */
            lastError?: components["schemas"]["LastError"];
            /**
             * Format: date-time
             * @description Time of the last use, accurate to ten seconds.
             */
            lastUsedAt?: string;
            /** @example partner */
            name: string;
            /** Format: date-time */
            updatedAt: string;
        };
        DeliveryAnswerView: {
            /**
             * @description Number of the delivery in the history of its trigger.
             * @example 1234
             */
            number: string;
            /**
             * @description Sentence why no run is started.
             * @example The condition of the trigger is false.
             */
            reason?: string;
            /**
             * @description Id of the run; absent if the delivery starts none.
             * @example 019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11
             */
            runId?: string;
        };
        DeliveryPageView: {
            deliveries: components["schemas"]["DeliveryView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        DeliveryView: {
            /** @example 1 */
            attempts: number;
            /** @example config-1 */
            configId: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Reason for which the config was disabled.
             * @example The receiver answered 410 Gone
             */
            disabledReason?: string;
            /**
             * @description Id of the notification, as its receiver sees it.
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11.7
             */
            id: string;
            /**
             * @description Kind of failure, if there was no answer.
             * @example timeout
             */
            lastError?: string;
            /**
             * @description HTTP status of the last answer.
             * @example 200
             */
            lastStatus?: number;
            /** Format: date-time */
            nextAttemptAt?: string;
            /**
             * @description Sequence number of the event in its Task.
             * @example 7
             */
            sequence: number;
            /**
             * @description `pending`: to be retried; `failed`: the config is disabled; `delivered`: the receiver accepted it.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @example 0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52 */
            taskId: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @description URL of the receiver, without the query.
             * @example https://hooks.example.com/parley
             */
            url: string;
        };
        EachBody: {
            /** @default 5 */
            concurrency: number;
            /**
             * @description CEL that gives a list.
             * @example inputs.words
             */
            items: string;
            /** @default 1000 */
            maxItems: number;
            /** @example 80% */
            minSuccess?: number | string;
            /**
             * @default fail
             * @enum {string}
             */
            onFailure: "fail" | "collect";
        };
        EdgeChangeView: {
            /** @enum {string} */
            change: "added" | "removed" | "changed";
            fields: components["schemas"]["FieldChangeView"][];
            /** @example topic */
            from: string;
            /**
             * @description Index of the edge in the later revision; of a removed edge, in the earlier revision.
             * @example 0
             */
            index: number;
            /** @example writer */
            to: string;
        };
        EndedRunBody: {
            /**
             * @description Statuses with which a run ends.
             * @default [
             *       "completed"
             *     ]
             * @example [
             *       "failed"
             *     ]
             */
            statuses: ("completed" | "failed" | "canceled")[];
            /**
             * @description Workflow of the runs.
             * @example greeting
             */
            workflow: string;
        };
        EndedRunView: {
            /** Format: date-time */
            endedAt: string;
            /**
             * @description Revision that the run was started with.
             * @example 7
             */
            revision?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        EndedSessionView: {
            /**
             * @description Address that ends the provider's own session; absent without a sign-in there.
             * @example https://id.example.com/session/end?client_id=parley
             */
            providerUrl?: string;
        };
        ExitBody: {
            /**
             * @description Id of the node.
             * @example notify
             */
            node: string;
            /**
             * @default always
             * @enum {string}
             */
            on: "success" | "failure" | "always";
        };
        ExpressionBody: {
            /**
             * @description Definition that contains the expression; it may have other errors.
             * @example {
             *       "name": "publish",
             *       "nodes": [
             *         {
             *           "id": "gate",
             *           "type": "human"
             *         },
             *         {
             *           "id": "out",
             *           "type": "output"
             *         }
             *       ],
             *       "edges": [
             *         {
             *           "from": "gate",
             *           "to": "out"
             *         }
             *       ]
             *     }
             */
            definition?: {
                [key: string]: unknown;
            };
            /**
             * @description CEL expression.
             * @example nodes.gate.data.decision == 'yes'
             */
            expression?: string;
            /**
             * @description Path of the expression in the definition, in an existing node or edge.
             * @example edges[0].when
             */
            path?: string;
            /**
             * @description Alternative to an expression: JSON whose strings may contain ${expressions} and {{references}}.
             * @example {
             *       "text": "Draft ${iteration} of {{topic}}"
             *     }
             */
            template?: unknown;
        };
        ExpressionProblems: {
            problems: components["schemas"]["WorkflowProblemView"][];
            /** @description Variables at the path; empty without a path. */
            variables: components["schemas"]["ExpressionVariableView"][];
        };
        ExpressionVariableView: {
            /**
             * @description Names that may follow each member.
             * @example [
             *       "text",
             *       "data"
             *     ]
             */
            fields?: string[];
            /**
             * @description Members that may follow the name; absent: all members of the value.
             * @example [
             *       "gate"
             *     ]
             */
            members?: string[];
            /** @example nodes */
            name: string;
        };
        FailureCauseView: {
            /**
             * Format: date-time
             * @description End of the first of these runs.
             * @example 2026-01-31T09:30:00.000Z
             */
            firstSeen: string;
            /**
             * @description Id, which selects these runs as `cause` in `GET /api/runs`.
             * @example nV2pX0q7c3L8sTfA
             */
            id: string;
            /**
             * @description Kind of the failure, as in `retry`.
             * @example server-error
             */
            kind: string;
            /**
             * Format: date-time
             * @description End of the last of these runs.
             * @example 2026-01-31T09:30:00.000Z
             */
            lastSeen: string;
            /**
             * @description Message of the failure. Its numbers, ids and URLs are `<n>`, `<id>` and `<url>`.
             * @example model "large" answered HTTP 500
             */
            message: string;
            /**
             * @description Node that failed the run; absent for a deadline, for example.
             * @example plan
             */
            node?: string;
            /**
             * @description Last of these runs.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @description Number of failed runs.
             * @example 3
             */
            runs: number;
            /**
             * @description Workflows of these runs, at most ten.
             * @example [
             *       "greeting"
             *     ]
             */
            workflows: string[];
        };
        FallbackBody: {
            /**
             * @example [
             *       {
             *         "text": "Nobody knows"
             *       }
             *     ]
             */
            parts: Record<string, never>[];
        };
        FieldChangeView: {
            /**
             * @description Value after; absent if the member is gone.
             * @example Greet {{topic}}
             */
            after?: unknown;
            /**
             * @description Value before; absent if the member is new.
             * @example Greet {{topic}}
             */
            before?: unknown;
            /**
             * @description Path of the changed member.
             * @example config.prompt
             */
            path: string;
        };
        FileListView: {
            files: components["schemas"]["FileView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        FileUrlBody: {
            /**
             * @description Time for which the address is valid, at most 24 hours.
             * @default 15m
             * @example 2h
             */
            expiresIn: string;
        };
        FileUrlView: {
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: uri
             * @example https://parley.example.com/files/019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41?expires=1790000000&signature=n4bQ
             */
            url: string;
        };
        FileView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description Time from which the file may be deleted (FILE_RETENTION).
             */
            expiresAt?: string;
            /** @example 019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41 */
            id: string;
            /** @example application/pdf */
            mediaType: string;
            /** @example report.pdf */
            name: string;
            /**
             * @description Digest of the content, hexadecimal.
             * @example e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
             */
            sha256: string;
            /**
             * @description Size in bytes.
             * @example 48213
             */
            size: number;
            /**
             * Format: uri
             * @description Address at which the owner reads the file; also the `url` of a Part.
             * @example https://parley.example.com/api/files/019a1f0e-5b7a-7c31-9d2f-4b6a8c0e2d41
             */
            url: string;
        };
        GenerateBody: {
            /**
             * @description Definition to change. Nodes that the description does not concern stay unchanged.
             * @example {
             *       "name": "summary",
             *       "nodes": [
             *         {
             *           "id": "text",
             *           "type": "input"
             *         }
             *       ]
             *     }
             */
            current?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Description of the workflow or, with `current`, of the change to it.
             * @example Summarize a text in three sentences, then let a person approve the summary.
             */
            description: string;
            /**
             * @description Model that writes the workflow, one of `/api/models`. Default: `GENERATE_MODEL`, or the default model.
             * @example large
             */
            model?: string | null;
            /**
             * @description Name of the workflow. Default: the name of `current`, or one that the model chooses.
             * @example summary
             */
            name?: string | null;
        };
        GeneratedWorkflow: {
            /**
             * @description Number of answers of the model.
             * @example 1
             */
            attempts: number;
            /**
             * @description Model that wrote the definition.
             * @example large
             */
            model: string;
            /** @description Problems of the definition; errors first. */
            problems: components["schemas"]["WorkflowProblemView"][];
            usage: components["schemas"]["TokenUsage"];
            /**
             * @description Definition. It may have errors after the last repair; `problems` lists them.
             * @example {
             *       "name": "summary",
             *       "nodes": [
             *         {
             *           "id": "text",
             *           "type": "input"
             *         }
             *       ],
             *       "edges": []
             *     }
             */
            workflow: {
                [key: string]: unknown;
            };
        };
        InboxItem: {
            /** @example editors */
            assignee?: string;
            /**
             * Format: date-time
             * @example 2026-02-02T09:30:00.000Z
             */
            deadline?: string;
            /**
             * @description JSON Schema of the data of the answer; without it the answer is text.
             * @example {
             *       "type": "object",
             *       "properties": {
             *         "decision": {
             *           "enum": [
             *             "yes",
             *             "no"
             *           ]
             *         }
             *       }
             *     }
             */
            form?: {
                [key: string]: unknown;
            };
            /**
             * @description Instance that an answer names.
             * @example gate
             */
            instance: string;
            /** @example gate */
            node: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string;
            /** @example Publish? */
            text: string;
            /** @example review */
            workflow: string;
        };
        InboxPage: {
            items: components["schemas"]["InboxItem"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        InstanceWait: {
            /** @example timer */
            state: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
        };
        KeyListView: {
            keys: components["schemas"]["KeyView"][];
        };
        KeySetView: {
            /**
             * @example [
             *       {
             *         "kty": "OKP",
             *         "crv": "Ed25519",
             *         "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
             *         "kid": "k1",
             *         "use": "sig"
             *       }
             *     ]
             */
            keys: {
                [key: string]: unknown;
            }[];
        };
        KeyView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Caller who created the key; absent for keys from AUTH_API_KEYS.
             * @example admin
             */
            createdBy?: string;
            /**
             * Format: date-time
             * @description Time at which the key stops being valid.
             */
            endsAt?: string;
            /**
             * @description SHA-256 of the key in hexadecimal digits; only with `hashes`.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash?: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /** @example ann */
            name: string;
            /**
             * @example [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "prompts" | "admin")[];
            /**
             * Format: date-time
             * @description Last change of the scopes; only with `hashes`.
             */
            updatedAt?: string;
        };
        LastError: {
            /** Format: date-time */
            at: string;
            /** @example the agent answered 401 */
            message: string;
        };
        LimitBody: {
            /**
             * @description Counts the work of all tenants. Only callers of `OPERATOR_TENANT` may set it.
             * @default false
             */
            allTenants: boolean;
            /**
             * @description Maximum number that is under way at the same time, over all replicas; 0: none begins.
             * @example 5
             */
            concurrency?: number;
            /** @example writer */
            name: string;
            /**
             * @description Each target, caller or tenant has the limit of its own. Absent: all work that matches shares it.
             * @enum {string}
             */
            per?: "target" | "caller" | "tenant";
            /** @description Maximum number of starts in a period. */
            rate?: components["schemas"]["LimitRateBody"];
            /**
             * @description What the limit counts: runs of a workflow (`workflows/NAME`) or of all (`workflows/*`), turns at a registered agent (`agents/NAME`) or at all (`agents/*`), or both for each caller (`caller`).
             * @example workflows/*
             */
            target: string;
        };
        LimitListView: {
            limits: components["schemas"]["LimitView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        LimitRateBody: {
            /**
             * @description Number of starts that may follow at once after a pause. With 1, starts are evenly spaced.
             * @default 1
             */
            burst: number;
            /** @example 30 */
            count: number;
            /**
             * @description Duration from 1s to 1d.
             * @example 1m
             */
            period: string;
        };
        LimitReplacementBody: {
            /**
             * @description Counts the work of all tenants. Only callers of `OPERATOR_TENANT` may set it.
             * @default false
             */
            allTenants: boolean;
            /**
             * @description Maximum number that is under way at the same time, over all replicas; 0: none begins.
             * @example 5
             */
            concurrency?: number;
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /**
             * @description Each target, caller or tenant has the limit of its own. Absent: all work that matches shares it.
             * @enum {string}
             */
            per?: "target" | "caller" | "tenant";
            /** @description Maximum number of starts in a period. */
            rate?: components["schemas"]["LimitRateBody"];
            /**
             * @description What the limit counts: runs of a workflow (`workflows/NAME`) or of all (`workflows/*`), turns at a registered agent (`agents/NAME`) or at all (`agents/*`), or both for each caller (`caller`).
             * @example workflows/*
             */
            target: string;
        };
        LimitView: {
            /**
             * @description Counts the work of all tenants. Only callers of `OPERATOR_TENANT` may set it.
             * @default false
             */
            allTenants: boolean;
            /**
             * @description Maximum number that is under way at the same time, over all replicas; 0: none begins.
             * @example 5
             */
            concurrency?: number;
            /** Format: date-time */
            createdAt: string;
            /** @example writer */
            name: string;
            /**
             * @description Each target, caller or tenant has the limit of its own. Absent: all work that matches shares it.
             * @enum {string}
             */
            per?: "target" | "caller" | "tenant";
            /** @description Maximum number of starts in a period. */
            rate?: components["schemas"]["LimitRateBody"];
            /**
             * @description What the limit counts: runs of a workflow (`workflows/NAME`) or of all (`workflows/*`), turns at a registered agent (`agents/NAME`) or at all (`agents/*`), or both for each caller (`caller`).
             * @example workflows/*
             */
            target: string;
            /** Format: date-time */
            updatedAt: string;
        };
        LlmConfigBody: {
            /**
             * @description Name of a stored credential with hosts, for every agent that can use it: it replaces the key of its models, or of its auth. Never a secret itself.
             * @example team-key
             */
            credential_ref?: string;
            /** @example 2000 */
            max_tokens?: number;
            /** @example llama-4 */
            model?: string;
            /** @example openai-compatible */
            provider?: string;
            /** @example 0.7 */
            temperature?: number;
        };
        LoggedEventView: {
            /**
             * @description StreamResponse of A2A, as SubscribeToTask sends it.
             * @example {
             *       "statusUpdate": {
             *         "taskId": "0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52",
             *         "contextId": "0190c1de-7a53-7f0c-9a57-2f8f0f6f3b53",
             *         "status": {
             *           "state": "TASK_STATE_WORKING",
             *           "timestamp": "2026-01-31T09:30:00.000Z"
             *         }
             *       }
             *     }
             */
            event: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time of the event.
             */
            recordedAt: string;
            /**
             * @description Sequence number in the log, from 1; also the id of the event in a stream.
             * @example 2
             */
            sequence: number;
        };
        LoopBody: {
            /** @example 10s */
            delay?: string;
            /**
             * @description CEL that gives true or false.
             * @example nodes.review.data.good
             */
            exit_when?: string;
            /** @example There is no draft yet. */
            initial?: string;
            /** @example 5 */
            max_iterations: number;
            /**
             * @default continue
             * @enum {string}
             */
            on_max: "continue" | "fail";
        };
        MadeKeyView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Caller who created the key; absent for keys from AUTH_API_KEYS.
             * @example admin
             */
            createdBy?: string;
            /**
             * Format: date-time
             * @description Time at which the key stops being valid.
             */
            endsAt?: string;
            /**
             * @description SHA-256 of the key in hexadecimal digits; only with `hashes`.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash?: string;
            /**
             * Format: uuid
             * @example 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11
             */
            id: string;
            /**
             * @description Key that the caller sends; only this answer shows it.
             * @example parley_…
             */
            key: string;
            /** @example ann */
            name: string;
            /**
             * @example [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "prompts" | "admin")[];
            /**
             * Format: date-time
             * @description Last change of the scopes; only with `hashes`.
             */
            updatedAt?: string;
        };
        MakeKeyBody: {
            /**
             * @description Name of the caller, who owns what it creates.
             * @example ann
             */
            name: string;
            /**
             * @default [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "prompts" | "admin")[];
        };
        McpAcceptBody: {
            /**
             * @description `hash` of the tools that were reviewed; other tools are not accepted.
             * @example qK3l0x7pS9n1
             */
            hash: string;
        };
        McpReplacementBody: {
            /**
             * @description Globs of the tools that agents may call, with `*` and `?`; default: all.
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @description Globs of the tools that need approval before an agent calls them.
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /**
             * @description Name of the credential for calls.
             * @example partner
             */
            auth?: string;
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /**
             * Format: uri
             * @description URL of its Streamable HTTP endpoint.
             * @example https://mcp.example.com/v1
             */
            url: string;
        };
        McpServerBody: {
            /**
             * @description Globs of the tools that agents may call, with `*` and `?`; default: all.
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @description Globs of the tools that need approval before an agent calls them.
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /**
             * @description Name of the credential for calls.
             * @example partner
             */
            auth?: string;
            /** @example github */
            name: string;
            /**
             * Format: uri
             * @description URL of its Streamable HTTP endpoint.
             * @example https://mcp.example.com/v1
             */
            url: string;
        };
        McpServerDetailView: {
            /** Format: date-time */
            acceptedAt?: string;
            /** @example ann */
            acceptedBy?: string;
            /**
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /** @example partner */
            auth?: string;
            /**
             * @description tool, kind, blocked, differences (path, kind, before?, after?) of each changed tool.
             * @example [
             *       {
             *         "tool": "search_code",
             *         "kind": "changed",
             *         "blocked": true,
             *         "differences": [
             *           {
             *             "path": "/description",
             *             "kind": "changed",
             *             "before": "Searches code",
             *             "after": "Searches all code"
             *           }
             *         ]
             *       }
             *     ]
             */
            changes?: {
                [key: string]: unknown;
            }[];
            /** Format: date-time */
            createdAt?: string;
            /**
             * @description Reason for which the server is unreachable.
             * @example HTTP 500
             */
            error?: string;
            /**
             * @description Hash of all tools as they were last seen; `accept` names it.
             * @example qK3l0x7pS9n1
             */
            hash?: string;
            /** @example github */
            name: string;
            /** @description Listed tools that cannot be offered, each with its reason; absent if there are none. */
            skipped?: components["schemas"]["SkippedToolView"][];
            /**
             * @description `file`: comes from the file of the operator and is read-only here.
             * @enum {string}
             */
            source: "file" | "api";
            /**
             * @description `changed`: a change waits to be accepted. Lists show the last known status; absent if the server was never seen.
             * @enum {string}
             */
            status?: "ok" | "changed" | "unreachable";
            tools: components["schemas"]["McpToolView"][];
            /** @enum {string} */
            transport: "http" | "stdio";
            /** Format: date-time */
            updatedAt?: string;
            /** @example https://mcp.example.com/v1 */
            url?: string;
        };
        McpServerListView: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            servers: components["schemas"]["McpServerView"][];
        };
        McpServerView: {
            /**
             * @example [
             *       "search_*"
             *     ]
             */
            allow?: string[];
            /**
             * @example [
             *       "delete_*"
             *     ]
             */
            approve?: string[];
            /** @example partner */
            auth?: string;
            /** Format: date-time */
            createdAt?: string;
            /** @example github */
            name: string;
            /**
             * @description `file`: comes from the file of the operator and is read-only here.
             * @enum {string}
             */
            source: "file" | "api";
            /**
             * @description `changed`: a change waits to be accepted. Lists show the last known status; absent if the server was never seen.
             * @enum {string}
             */
            status?: "ok" | "changed" | "unreachable";
            /** @enum {string} */
            transport: "http" | "stdio";
            /** Format: date-time */
            updatedAt?: string;
            /** @example https://mcp.example.com/v1 */
            url?: string;
        };
        McpToolCallBody: {
            /**
             * @description Arguments, which the server checks; default: none.
             * @example {
             *       "query": "Parley"
             *     }
             */
            args?: {
                [key: string]: unknown;
            };
            /**
             * @description True if a person has confirmed the call of a tool that may change something.
             * @default false
             */
            confirmed: boolean;
            /**
             * @description Name at the server.
             * @example search
             */
            tool: string;
        };
        McpToolCallView: {
            /**
             * @description Error of the tool, or the reason why it could not be called.
             * @example HTTP 500
             */
            error?: string;
            /**
             * @description Milliseconds until the result or the error.
             * @example 87
             */
            latencyMs: number;
            /** @description True if the tool returned a result. */
            ok: boolean;
            /**
             * @description Untrusted result: the structured content, else the text, else the content blocks of MCP.
             * @example three pages
             */
            result?: unknown;
            /** @description True if the result has more than 256 KiB. */
            truncated?: boolean;
        };
        McpToolView: {
            /** @description True if `allow` matches the tool. */
            allowed: boolean;
            /**
             * @example {
             *       "readOnlyHint": true
             *     }
             */
            annotations: {
                [key: string]: unknown;
            };
            /** @description True if calls are rejected until a change is accepted. */
            blocked: boolean;
            /**
             * @description Description that the server gives.
             * @example Searches code
             */
            description: string;
            /** @example qK3l0x7pS9n1 */
            hash: string;
            /**
             * @description JSON Schema of the arguments, as the server gives it.
             * @example {
             *       "type": "object"
             *     }
             */
            inputSchema: {
                [key: string]: unknown;
            };
            /** @example search_code */
            name: string;
            /** @description True if `approve` matches the tool. */
            needsApproval: boolean;
        };
        ModelBody: {
            /**
             * @description Name of the credential for calls: `bearer` for OpenAI, `api-key` for Anthropic and Google.
             * @example provider-key
             */
            auth?: string;
            /**
             * Format: uri
             * @description Base URL of the provider, such as `https://models.example.com/v1`; required for `openai-compatible`.
             * @example https://models.example.com/v1
             */
            baseUrl?: string;
            /** @description Settings of the calls of nodes that set none; absent: the defaults of the provider. */
            defaults?: components["schemas"]["ModelDefaults"];
            /**
             * @description Media types of Parts that the model accepts beside text and data.
             * @default []
             * @example [
             *       "image/*",
             *       "application/pdf"
             *     ]
             */
            input: string[];
            /**
             * @description Name of the model at the provider.
             * @example gpt-large
             */
            model: string;
            /**
             * @description Name that nodes use; never `echo`.
             * @example large
             */
            name: string;
            /** @description Prices of the tokens; absent: the cost is unknown. */
            price?: components["schemas"]["ModelPrice"];
            /** @enum {string} */
            provider: "openai-compatible" | "openai" | "anthropic" | "google";
        };
        ModelDefaults: {
            /**
             * @description Maximum number of tokens of one answer; an answer that reaches it fails.
             * @example 2000
             */
            maxTokens?: number;
            /**
             * @description Texts before which an answer ends.
             * @example [
             *       "END"
             *     ]
             */
            stop?: string[];
            /**
             * @description Sampling temperature.
             * @example 0.2
             */
            temperature?: number;
            /**
             * @description Form of tool calls: `schema` for endpoints that cannot call tools; default: `native`.
             * @example schema
             * @enum {string}
             */
            toolCalls?: "native" | "schema";
            /**
             * @description Total probability of the tokens from which the model samples.
             * @example 0.9
             */
            topP?: number;
            /**
             * @description Seconds to wait for the first piece of an answer, and for each further piece; default: 120.
             * @example 600
             */
            waitSeconds?: number;
        };
        ModelListView: {
            /**
             * @description Model for nodes that name none; `echo` if the operator set none, which repeats its input.
             * @example echo
             */
            defaultModel: string;
            models: components["schemas"]["ModelView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        ModelPrice: {
            /**
             * @description US dollars for a million input tokens from the provider's cache; default: the price of `input`.
             * @example 0.025
             */
            cachedInput?: string;
            /**
             * @description US dollars for a million input tokens that are written to the provider's cache; default: 1.25 times the price of `input`.
             * @example 0.3125
             */
            cacheWrite?: string;
            /**
             * @description US dollars for a million input tokens.
             * @example 0.25
             */
            input: string;
            /**
             * @description US dollars for a million output tokens.
             * @example 2
             */
            output: string;
        };
        ModelReplacementBody: {
            /**
             * @description Name of the credential for calls: `bearer` for OpenAI, `api-key` for Anthropic and Google.
             * @example provider-key
             */
            auth?: string;
            /**
             * Format: uri
             * @description Base URL of the provider, such as `https://models.example.com/v1`; required for `openai-compatible`.
             * @example https://models.example.com/v1
             */
            baseUrl?: string;
            /** @description Settings of the calls of nodes that set none; absent: the defaults of the provider. */
            defaults?: components["schemas"]["ModelDefaults"];
            /**
             * @description Media types of Parts that the model accepts beside text and data.
             * @default []
             * @example [
             *       "image/*",
             *       "application/pdf"
             *     ]
             */
            input: string[];
            /**
             * @description Name of the model at the provider.
             * @example gpt-large
             */
            model: string;
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /** @description Prices of the tokens; absent: the cost is unknown. */
            price?: components["schemas"]["ModelPrice"];
            /** @enum {string} */
            provider: "openai-compatible" | "openai" | "anthropic" | "google";
        };
        ModelTestFailure: {
            /**
             * @example key-refused
             * @enum {string}
             */
            cause: "key-refused" | "unknown-model" | "unreachable" | "wrong-address" | "forbidden-address" | "credential" | "rate-limited" | "timeout" | "provider-error" | "refused" | "unusable-answer";
            /**
             * @description The provider's reason, without secrets.
             * @example the provider refused the key
             */
            message: string;
            /**
             * @description HTTP status of the provider, if it answered.
             * @example 401
             */
            status?: number;
        };
        ModelTestUsage: {
            /**
             * @description Part of `inputTokens` from the cache of the provider.
             * @example 0
             */
            cachedInputTokens?: number;
            /**
             * @description Part of `inputTokens` written to the provider's cache.
             * @example 0
             */
            cacheWriteInputTokens?: number;
            /**
             * @description Cost in US dollars; absent if the model has no price.
             * @example 0.00001
             */
            cost?: string;
            /** @example 17 */
            inputTokens: number;
            /** @example 2 */
            outputTokens: number;
            /**
             * @description Part of `outputTokens` for reasoning.
             * @example 0
             */
            reasoningTokens?: number;
        };
        ModelTestView: {
            /** @description Absent if the model answered. */
            failure?: components["schemas"]["ModelTestFailure"];
            /**
             * @description Milliseconds until the whole answer, or the failure.
             * @example 412
             */
            latencyMs: number;
            /** @description True if the model answered. */
            ok: boolean;
            /**
             * @description Start of the answer; absent if the test failed.
             * @example ok
             */
            text?: string;
            /** @description True if the answer was longer than `text`, or reached its limit of tokens. */
            truncated?: boolean;
            /** @description Absent if the provider reports no tokens. */
            usage?: components["schemas"]["ModelTestUsage"];
        };
        ModelUsageView: {
            /**
             * @description Input tokens from the providers' caches; absent if none is reported.
             * @example 18200
             */
            cachedInputTokens?: number;
            /**
             * @description Input tokens that are written to the providers' caches; absent if none is reported.
             * @example 18200
             */
            cacheWriteInputTokens?: number;
            /**
             * @description Number of calls of models.
             * @example 12
             */
            calls: number;
            /**
             * @description Cost in US dollars, an exact decimal number; absent if unknown.
             * @example 0.0421
             */
            cost?: string;
            /**
             * @description Number of input tokens; absent if unknown.
             * @example 18200
             */
            inputTokens?: number;
            /** @example large */
            model: string;
            /**
             * @description Number of output tokens; absent if unknown.
             * @example 18200
             */
            outputTokens?: number;
            /**
             * @description Output tokens of reasoning; absent if none is reported.
             * @example 18200
             */
            reasoningTokens?: number;
            /**
             * @description Number of calls whose cost is unknown; `cost` omits them.
             * @example 0
             */
            unpricedCalls: number;
            /**
             * @description Number of calls whose tokens are unknown; no sum includes them.
             * @example 0
             */
            unreportedCalls: number;
        };
        ModelView: {
            /** @example provider-key */
            auth?: string;
            /**
             * Format: uri
             * @example https://models.example.com/v1
             */
            baseUrl?: string;
            /** Format: date-time */
            createdAt: string;
            defaults?: components["schemas"]["ModelDefaults"];
            /**
             * @example [
             *       "image/*"
             *     ]
             */
            input: string[];
            /** @example gpt-large */
            model: string;
            /** @example large */
            name: string;
            price?: components["schemas"]["ModelPrice"];
            /** @enum {string} */
            provider: "openai-compatible" | "openai" | "anthropic" | "google";
            /** Format: date-time */
            updatedAt: string;
        };
        NextTimesView: {
            /** @description The next ten times, without jitter. */
            nextTimes: string[];
        };
        NodeChangeView: {
            /**
             * @description `moved`: only its position in the editor differs.
             * @enum {string}
             */
            change: "added" | "removed" | "changed" | "moved";
            fields: components["schemas"]["FieldChangeView"][];
            /** @example writer */
            id: string;
            /** @example agent */
            type: string;
        };
        NodeComparisonView: {
            after?: components["schemas"]["ComparedNodeView"];
            before?: components["schemas"]["ComparedNodeView"];
            /** @description `presence`: only one run has the node. */
            differs: ("presence" | "status" | "attempts" | "error" | "output")[];
            /** @example writer */
            id: string;
        };
        NoteBody: {
            /** @description Position of the note in an editor. */
            position: components["schemas"]["PositionBody"];
            /** @example Ask Mia before you change these prompts. */
            text: string;
        };
        OAuth2Body: {
            /** @example https://api.example.com */
            audience?: string;
            /**
             * @default basic
             * @enum {string}
             */
            clientAuthentication: "basic" | "body";
            /** @example parley */
            clientId: string;
            /** @example s3cr3t */
            clientSecret: string;
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "oauth2-client-credentials";
            /** @example partner */
            name: string;
            /**
             * @default []
             * @example [
             *       "agents.read"
             *     ]
             */
            scopes: string[];
            /**
             * Format: uri
             * @example https://login.example.com/token
             */
            tokenUrl: string;
        };
        OAuth2ReplacementBody: {
            /** @example https://api.example.com */
            audience?: string;
            /**
             * @default basic
             * @enum {string}
             */
            clientAuthentication: "basic" | "body";
            /** @example parley */
            clientId: string;
            /** @example s3cr3t */
            clientSecret: string;
            /**
             * @description Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as `http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.
             * @example [
             *       "api.example.com"
             *     ]
             */
            hosts?: string[];
            /** @enum {string} */
            kind: "oauth2-client-credentials";
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /**
             * @default []
             * @example [
             *       "agents.read"
             *     ]
             */
            scopes: string[];
            /**
             * Format: uri
             * @example https://login.example.com/token
             */
            tokenUrl: string;
        };
        ObjectProblemView: {
            /** @example names a credential that does not exist */
            detail: string;
            /** @example auth */
            path: string;
        };
        OldestWait: {
            /**
             * @description Beginning of the question.
             * @example Publish?
             */
            question?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * Format: date-time
             * @description Time since which it waits.
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description Time until which a parked run waits.
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
            /** @example review */
            workflow: string;
        };
        OutputBody: {
            parse?: boolean;
            /**
             * @example {
             *       "type": "object"
             *     }
             */
            schema?: {
                [key: string]: unknown;
            };
        };
        Overview: {
            /** @description Runs that last changed in the range of the same length before. */
            before: components["schemas"]["RunCounts"];
            /** @description Causes of failed runs, the most frequent first. */
            failures: components["schemas"]["FailureCauseView"][];
            /**
             * @description True if the range has more runs than are read, so that `runs` and `workflows` may be too low.
             * @example false
             */
            more: boolean;
            /**
             * @description True if `before` may be too low for the same reason.
             * @example false
             */
            moreBefore: boolean;
            /**
             * @description True if failures are missing: the newest 500 failed runs and the 50 most frequent causes are listed.
             * @example false
             */
            moreFailures: boolean;
            /**
             * @description True if workflows are missing: at most 100 are listed.
             * @example false
             */
            moreWorkflows: boolean;
            /** @description Runs that last changed in the range. */
            runs: components["schemas"]["RunCounts"];
            /**
             * Format: date-time
             * @description Begin of the range.
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string;
            /**
             * Format: date-time
             * @description End of the range, not included.
             * @example 2026-01-31T09:30:00.000Z
             */
            until: string;
            /** @description Calls of models in `usageDays`. */
            usage: components["schemas"]["UsageView"];
            /** @description Days of all `usage`: those of the range. */
            usageDays: components["schemas"]["UsageDays"];
            /** @description Work that waits now, whatever the range. */
            waiting: components["schemas"]["WaitingView"];
            /** @description Workflows, those with the most runs first. */
            workflows: components["schemas"]["WorkflowOverview"][];
        };
        PassAgentView: {
            /** @example ann */
            agent: string;
            /** @example the agent gave no state */
            error?: string;
            /**
             * @description Number of answers that the agent sent back to its model.
             * @example 2
             */
            repairs?: number;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
            /** @enum {string} */
            status: "pending" | "running" | "completed" | "failed" | "canceled";
            usage?: components["schemas"]["TokenUsageView"];
        };
        PassView: {
            agents: components["schemas"]["PassAgentView"][];
            /**
             * @description Present once the pass is complete.
             * @example 0.8
             */
            confidence?: number;
            /** @example 2 */
            iteration: number;
        };
        PlanStepView: {
            /** @example Ask the town hall for a room with a workbench. */
            description: string;
            /** @example Find a room */
            title: string;
        };
        PositionBody: {
            /** @example 120 */
            x: number;
            /** @example 80 */
            y: number;
        };
        Problem: {
            /** @example nodes[0].id: must be a string */
            detail: string;
            /** @description One entry for each fault. */
            errors?: components["schemas"]["ProblemEntry"][];
            /**
             * @description Path of the request.
             * @example /api/workflows
             */
            instance?: string;
            /**
             * @description Code of the problem, for programs: `NOT_FOUND`, `IDEMPOTENCY_CONFLICT`, …
             * @example MALFORMED
             */
            reason: string;
            /**
             * @description Id of the request; log lines about the problem contain it.
             * @example 5d1a4c1e-7a53-4f0c-9a57-2f8f0f6f3b52
             */
            requestId?: string;
            /** @example 400 */
            status: number;
            /** @example Bad Request */
            title: string;
            /**
             * @description Id of the trace, if the request has a `traceparent`.
             * @example 4bf92f3577b34da6a3ce929d0e0e4736
             */
            trace_id?: string;
            /** @example about:blank */
            type: string;
        };
        ProblemEntry: {
            /**
             * @description Code of the fault, for programs.
             * @example UNKNOWN_REFERENCE
             */
            code?: string;
            /** @example must be a string */
            detail: string;
            /**
             * @description Path of the invalid field; `''` for the whole body.
             * @example nodes[0].id
             */
            path: string;
        };
        PromptListView: {
            /** @description Model calls in order. Empty if none was made, or none is kept. */
            calls: components["schemas"]["PromptView"][];
            /**
             * @description Present if the Task has reached its limit of 256 KiB, so that later calls may not be kept.
             * @enum {boolean}
             */
            cut?: true;
        };
        PromptTextsView: {
            /**
             * @description Number of the call in the Task, from 1.
             * @example 1
             */
            call: number;
            /**
             * @description Present if a text of the call was too large to keep.
             * @enum {boolean}
             */
            cut?: true;
            /**
             * @description Error text, if the model gave no answer.
             * @example model "writer" gave no answer: HTTP 503
             */
            error?: string;
            /**
             * @description Number of messages after the system prompt.
             * @example 3
             */
            messages: number;
            /**
             * @description Name of the model in this service.
             * @example writer
             */
            model: string;
            /**
             * @description Milliseconds until the end of the answer; absent while the call is open, or after a crash.
             * @example 1430
             */
            ms?: number;
            /**
             * @description Deviation of the answer from the protocol of the provider.
             * @example its answer ended with [DONE] and without a finish_reason
             */
            note?: string;
            /**
             * @description Provider of the model; absent for the built-in model.
             * @example anthropic
             */
            provider?: string;
            /**
             * @description Name of the model at the provider.
             * @example claude-sonnet-4-5
             */
            providerModel?: string;
            /**
             * @description Reason for which the answer ended.
             * @example stop
             * @enum {string}
             */
            reason?: "stop" | "tool-calls" | "other";
            /**
             * @description Answer of the model as a message; absent without an answer.
             * @example {
             *       "role": "assistant",
             *       "parts": [
             *         {
             *           "text": "Hello.",
             *           "mediaType": "text/plain"
             *         }
             *       ]
             *     }
             */
            received?: {
                [key: string]: unknown;
            };
            sent: components["schemas"]["SentPromptView"];
            /**
             * Format: date-time
             * @description Time of the request.
             */
            sentAt: string;
            /**
             * @description Step of the Task, as in the event `model.request`; repeated calls and fallbacks share one step.
             * @example 1
             */
            step: number;
            usage?: components["schemas"]["PromptUsageView"];
        };
        PromptUsageView: {
            /**
             * @description Input tokens from the cache of the provider; absent if the provider reports none.
             * @example 512
             */
            cachedInputTokens?: number;
            /**
             * @description Part of `inputTokens` written to the provider's cache.
             * @example 512
             */
            cacheWriteInputTokens?: number;
            /**
             * @description Cost in US dollars; absent if unknown.
             * @example 0.0021
             */
            cost?: string;
            /** @example 812 */
            inputTokens: number;
            /** @example 64 */
            outputTokens: number;
            /**
             * @description Output tokens of the reasoning of the model; absent if the provider reports none.
             * @example 32
             */
            reasoningTokens?: number;
        };
        PromptView: {
            /**
             * @description Number of the call in the Task, from 1.
             * @example 1
             */
            call: number;
            /**
             * @description Present if a text of the call was too large to keep.
             * @enum {boolean}
             */
            cut?: true;
            /**
             * @description Error text, if the model gave no answer.
             * @example model "writer" gave no answer: HTTP 503
             */
            error?: string;
            /**
             * @description Number of messages after the system prompt.
             * @example 3
             */
            messages: number;
            /**
             * @description Name of the model in this service.
             * @example writer
             */
            model: string;
            /**
             * @description Milliseconds until the end of the answer; absent while the call is open, or after a crash.
             * @example 1430
             */
            ms?: number;
            /**
             * @description Deviation of the answer from the protocol of the provider.
             * @example its answer ended with [DONE] and without a finish_reason
             */
            note?: string;
            /**
             * @description Provider of the model; absent for the built-in model.
             * @example anthropic
             */
            provider?: string;
            /**
             * @description Name of the model at the provider.
             * @example claude-sonnet-4-5
             */
            providerModel?: string;
            /**
             * @description Reason for which the answer ended.
             * @example stop
             * @enum {string}
             */
            reason?: "stop" | "tool-calls" | "other";
            /**
             * Format: date-time
             * @description Time of the request.
             */
            sentAt: string;
            /**
             * @description Step of the Task, as in the event `model.request`; repeated calls and fallbacks share one step.
             * @example 1
             */
            step: number;
            usage?: components["schemas"]["PromptUsageView"];
        };
        RegisteredAgentBody: {
            /**
             * @description Name of the credential for calls of the agent.
             * @example partner
             */
            auth?: string;
            /** @example translator */
            name: string;
            policy?: components["schemas"]["AgentPolicyBody"];
            /**
             * Format: uri
             * @description Base URL of the agent, or the URL of its card.
             * @example https://agent.example.com/a2a
             */
            url: string;
        };
        RegisteredAgentListView: {
            agents: components["schemas"]["RegisteredAgentView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        RegisteredAgentReplacementBody: {
            /**
             * @description Name of the credential for calls of the agent.
             * @example partner
             */
            auth?: string;
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            policy?: components["schemas"]["AgentPolicyBody"];
            /**
             * Format: uri
             * @description Base URL of the agent, or the URL of its card.
             * @example https://agent.example.com/a2a
             */
            url: string;
        };
        RegisteredAgentView: {
            /** @example partner */
            auth?: string;
            /**
             * @description Card of the agent as it was when the agent was saved, in the form of A2A 1.0.
             * @example {
             *       "name": "Translator",
             *       "description": "Translates texts",
             *       "version": "1.0.0",
             *       "skills": []
             *     }
             */
            card: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            createdAt: string;
            /** @example translator */
            name: string;
            /**
             * @description Path of the agent on this service.
             * @example /a2a/agents/translator
             */
            path: string;
            policy: components["schemas"]["AgentPolicyBody"];
            /** Format: date-time */
            updatedAt: string;
            /** @example https://agent.example.com/a2a */
            url: string;
        };
        RequestedRunView: {
            /** @example 019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11 */
            runId: string;
        };
        RerunBody: {
            /** @description Edited prompt of an agent node, which then runs again. */
            edit?: components["schemas"]["RerunEdit"];
            /**
             * @description True if all failed nodes run again, with all that follow them.
             * @example false
             */
            failed?: boolean;
            /**
             * @description Nodes or instances to run again, with all that follow them.
             * @example [
             *       "draft",
             *       "tr[17]"
             *     ]
             */
            from?: string[];
            /**
             * @description Inputs that replace all inputs of the original run.
             * @example {
             *       "topic": "tea"
             *     }
             */
            inputs?: {
                [key: string]: unknown;
            };
            /**
             * @description Revision of the workflow; default: the revision of the original run.
             * @example 12
             */
            revision?: string;
        };
        RerunEdit: {
            /**
             * @description Agent node, or its instance, whose prompt is edited. It runs again.
             * @example draft
             */
            node: string;
            /**
             * @description Text that is sent as it is: references in it are not filled in. At most 65536 bytes.
             * @example Write two sentences about tea.
             */
            prompt: string;
        };
        RetryBody: {
            /** @example 3 */
            attempts: number;
            /** @default 1s */
            delay: string;
            /** @default 2 */
            factor: number;
            /** @default 0.5 */
            jitter: number;
            /** @default 1m */
            maxDelay: string;
            /**
             * @example [
             *       "timeout",
             *       "server-error"
             *     ]
             */
            on?: string[];
            /**
             * @description CEL that gives true or false.
             * @example error.kind != 'failed'
             */
            when?: string;
        };
        RevisionDiff: {
            /** @example 7 */
            after: string;
            /** @example 6 */
            before: string;
            edges: components["schemas"]["EdgeChangeView"][];
            /** @description Changed members other than nodes and edges. */
            fields: components["schemas"]["FieldChangeView"][];
            nodes: components["schemas"]["NodeChangeView"][];
            /**
             * @description True if there are more than 1,000 differences.
             * @example false
             */
            truncated: boolean;
        };
        RevisionPage: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            revisions: components["schemas"]["SavedRevision"][];
        };
        RiskView: {
            resolved: boolean;
            /** @enum {string} */
            severity: "low" | "medium" | "high" | "critical";
            /** @example Tools come back broken */
            text: string;
        };
        RotateKeyBody: {
            /**
             * @description Seconds for which the old key stays valid beside the new one.
             * @default 0
             * @example 600
             */
            overlapSeconds: number;
        };
        RunBody: {
            /**
             * @description Budget of the run, as in a definition. It can only lower the budget of the workflow.
             * @example {
             *       "usd": 0.5
             *     }
             */
            budget?: {
                [key: string]: unknown;
            };
            /**
             * @description Inputs by node id.
             * @example {
             *       "name": "Ada"
             *     }
             */
            inputs?: {
                [key: string]: unknown;
            };
        };
        RunBudgetView: {
            /**
             * @example stop
             * @enum {string}
             */
            onExceeded: "stop" | "ask" | "warn";
            /**
             * @description Spent tokens, with the estimates of calls that have no known tokens.
             * @example 18200
             */
            spentTokens: number;
            /**
             * @description Spent US dollars, with the estimates of calls that have no known cost.
             * @example 0.42
             */
            spentUsd: string;
            /**
             * @description Limit of tokens; absent: none.
             * @example 18200
             */
            tokens?: number;
            /**
             * @description Limit in US dollars, an exact decimal number; absent: none.
             * @example 1
             */
            usd?: string;
        };
        RunCost: {
            /**
             * @description True if the run has more than 500 such Tasks; the deepest are omitted.
             * @example false
             */
            more: boolean;
            /** @description The run first; each Task is followed by the Tasks that it called. */
            tasks: components["schemas"]["CostTask"][];
        };
        RunCount: {
            /**
             * @description True if there are more. With `since` or `until`, at most 1,000 runs are counted.
             * @example false
             */
            more: boolean;
            /** @example 1204 */
            runs: number;
        };
        RunCounts: {
            /** @example 3 */
            canceled: number;
            /** @example 3 */
            completed: number;
            /** @example 3 */
            failed: number;
            /** @example 3 */
            "input-required": number;
            /** @example 3 */
            running: number;
        };
        RunDetail: {
            artifacts: {
                [key: string]: {
                    [key: string]: unknown;
                }[];
            };
            /** @description Budget of the run; absent: it has none of its own. */
            budget?: components["schemas"]["RunBudgetView"];
            /** @description Outcome of the cancel for each remote Task. */
            children?: components["schemas"]["CanceledNode"][];
            /** @example 0d5f3a52-8c0e-4f0b-9a53-1f6f1c1d2e3f */
            contextId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /** @description Edited prompt, if this run is a rerun with one. */
            edit?: components["schemas"]["RerunEdit"];
            error?: components["schemas"]["RunFailure"];
            /**
             * @example {
             *       "name": "Ada"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            nodes: {
                [key: string]: components["schemas"]["RunNode"];
            };
            /**
             * @description Original run, if this run is a rerun.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /** @description A2A Artifacts. */
            result?: {
                [key: string]: unknown;
            }[];
            /**
             * @description Revision of the workflow that the run was started with; absent if the run names none.
             * @example 7
             */
            revision?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @description Inputs, and the text of each node.
             * @example {
             *       "topic": "world",
             *       "writer": "Hello, world!"
             *     }
             */
            state: {
                [key: string]: unknown;
            };
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
            /**
             * @description Id of the trace of the run.
             * @example 4bf92f3577b34da6a3ce929d0e0e4736
             */
            trace_id: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
            /** @description Calls of models of the run and its child runs; absent if there are none. */
            usage?: components["schemas"]["RunUsage"];
            /** @description Question, time or slot that the run waits for. */
            waitsFor?: components["schemas"]["RunWaitView"];
            /** @example greeting */
            workflow: string;
        };
        RunDiffView: {
            after: components["schemas"]["ComparedRunView"];
            before: components["schemas"]["ComparedRunView"];
            /** @description What differs. Times are no difference. */
            differs: ("workflow" | "revision" | "status" | "error" | "inputs" | "nodes" | "result")[];
            /** @description Inputs that differ. */
            inputs: components["schemas"]["ComparedInputView"][];
            /** @description All nodes of both runs. */
            nodes: components["schemas"]["NodeComparisonView"][];
            /**
             * @description True if values are cut, or inputs are left out.
             * @example false
             */
            truncated: boolean;
        };
        RunFailure: {
            /**
             * @description Instance that failed, if the node has more than one.
             * @example writer@2
             */
            instance?: string;
            /**
             * @description Kind of the failure, as in `retry`.
             * @example timeout
             */
            kind: string;
            /** @example node "writer": the model gave no answer */
            message: string;
            /** @example writer */
            node?: string;
        };
        RunFork: {
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            /**
             * @description Node or instance whose prompt was edited for the fork.
             * @example draft
             */
            editedNode?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
        };
        RunForks: {
            /** @description Forks, newest first. */
            forks: components["schemas"]["RunFork"][];
        };
        RunInstance: {
            /** @example 1 */
            attempts: number;
            /** @enum {string} */
            because?: "off" | "broken" | "out-of-reach" | "failure" | "canceled";
            error?: components["schemas"]["RunFailure"];
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt?: string;
            /** @example draft@2 */
            instance: string;
            /** @example draft */
            node: string;
            /**
             * @description Run from which the result was taken over.
             * @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70
             */
            origin?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
            /** @description Reason to wait, and time at which the wait ends. */
            waitsFor?: components["schemas"]["InstanceWait"];
        };
        RunInstances: {
            /** @description Instances in the order of their creation. */
            instances: components["schemas"]["RunInstance"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        RunNode: {
            /** @example https://parley.example/a2a/workflows/greeting/nodes/writer */
            agentUrl: string;
            /** @description A2A Artifacts. */
            artifacts: {
                [key: string]: unknown;
            }[];
            /** @example 1 */
            attempts: number;
            /**
             * @description Number of instances, in all and by status, of a node that runs more than once.
             * @example {
             *       "total": 3,
             *       "completed": 2,
             *       "failed": 1
             *     }
             */
            counts?: {
                [key: string]: number;
            };
            /** @example the model gave no answer */
            error?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt?: string;
            /**
             * @description Run from which the result was taken over.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
            /** @description Reason to wait: an answer, a time, or a retry. */
            waitsFor?: components["schemas"]["RunNodeWait"];
        };
        RunNodeDetail: {
            /** @example https://parley.example/a2a/workflows/greeting/nodes/writer */
            agentUrl: string;
            /** @description A2A Artifacts. */
            artifacts: {
                [key: string]: unknown;
            }[];
            /** @example 1 */
            attempts: number;
            /**
             * @description Number of instances, in all and by status, of a node that runs more than once.
             * @example {
             *       "total": 3,
             *       "completed": 2,
             *       "failed": 1
             *     }
             */
            counts?: {
                [key: string]: number;
            };
            /** @example the model gave no answer */
            error?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            finishedAt?: string;
            /** @example writer */
            id: string;
            /**
             * @description A2A Parts; absent if the node was never started.
             * @example [
             *       {
             *         "text": "Hello, world!"
             *       }
             *     ]
             */
            input?: {
                [key: string]: unknown;
            }[];
            /**
             * @description Run from which the result was taken over.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            startedAt?: string;
            /** @enum {string} */
            status: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
            /** @example agent */
            type: string;
            /** @description Reason to wait: an answer, a time, or a retry. */
            waitsFor?: components["schemas"]["RunNodeWait"];
        };
        RunNodeWait: {
            /**
             * @description Message of the agent; for a node with a list, the questions of its entries, one per line.
             * @example Which language?
             */
            message?: string;
            /** @enum {string} */
            state: "input-required" | "auth-required" | "timer" | "retry";
            /**
             * Format: date-time
             * @description Time at which the wait ends.
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
        };
        RunPage: {
            /**
             * @description Empty on the last page. With `search`, a page with fewer runs, or none, may have a next page.
             * @example
             */
            nextPageToken: string;
            runs: components["schemas"]["RunSummary"][];
            /** @description Progress of the search; absent without `search`. */
            search?: components["schemas"]["RunSearchProgress"];
        };
        RunSearchProgress: {
            /**
             * @description Number of runs that were searched for this page.
             * @example 10000
             */
            searched: number;
            /**
             * Format: date-time
             * @description Last update of the oldest run that was searched; absent if no further runs follow.
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
        };
        RunSlotWait: {
            /**
             * @description Beginning of the value of `concurrency.key`, or of the key of the limit.
             * @example acme
             */
            key?: string;
            /**
             * @description Maximum number that is under way; absent if the limit has only a rate.
             * @example 1
             */
            limit?: number;
            /**
             * @description 1: the run begins next. At most 1000 are counted.
             * @example 3
             */
            place: number;
            /**
             * @description Rate of the limit: number of starts and period.
             * @example 30/1m
             */
            rate?: string;
            /**
             * @description Name of the limit; absent: the `concurrency` of the workflow.
             * @example writer
             */
            rule?: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            since: string;
        };
        RunSummary: {
            /** @example 0d5f3a52-8c0e-4f0b-9a53-1f6f1c1d2e3f */
            contextId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            createdAt: string;
            error?: components["schemas"]["RunFailure"];
            /**
             * @example {
             *       "name": "Ada"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /** @description A2A Artifacts. */
            result?: {
                [key: string]: unknown;
            }[];
            /**
             * @description Revision of the workflow that the run was started with; absent if the run names none.
             * @example 7
             */
            revision?: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
            /**
             * @example completed
             * @enum {string}
             */
            status: "running" | "input-required" | "completed" | "failed" | "canceled";
            /**
             * Format: date-time
             * @example 2026-01-31T09:30:00.000Z
             */
            updatedAt: string;
            /** @description Calls of models of the run and its child runs; absent if there are none. */
            usage?: components["schemas"]["RunUsage"];
            /** @description Question, time or slot that the run waits for. */
            waitsFor?: components["schemas"]["RunWaitView"];
            /** @example greeting */
            workflow: string;
        };
        RunUsage: {
            /**
             * @description Input tokens from the providers' caches; absent if none is reported.
             * @example 18200
             */
            cachedInputTokens?: number;
            /**
             * @description Input tokens that are written to the providers' caches; absent if none is reported.
             * @example 18200
             */
            cacheWriteInputTokens?: number;
            /**
             * @description Number of calls of models.
             * @example 12
             */
            calls: number;
            /**
             * @description Cost in US dollars, an exact decimal number; absent if unknown.
             * @example 0.0421
             */
            cost?: string;
            /**
             * @description Number of input tokens; absent if unknown.
             * @example 18200
             */
            inputTokens?: number;
            /** @description Sums by model, child runs included, the most tokens first. */
            models: components["schemas"]["ModelUsageView"][];
            /**
             * @description Number of output tokens; absent if unknown.
             * @example 18200
             */
            outputTokens?: number;
            /** @description Calls of the run's own nodes alone, without child runs of other workflows. */
            own: components["schemas"]["UsageView"];
            /**
             * @description Output tokens of reasoning; absent if none is reported.
             * @example 18200
             */
            reasoningTokens?: number;
            /**
             * @description Number of calls whose cost is unknown; `cost` omits them.
             * @example 0
             */
            unpricedCalls: number;
            /**
             * @description Number of calls whose tokens are unknown; no sum includes them.
             * @example 0
             */
            unreportedCalls: number;
        };
        RunWaitView: {
            /**
             * @description Instance that asks first, or that waits for a slot.
             * @example gate
             */
            instance?: string;
            /**
             * @description Beginning of its question.
             * @example Publish?
             */
            question?: string;
            /**
             * @description Number of open questions if there are several.
             * @example 2
             */
            questions?: number;
            /** @description Place among the runs that wait for a slot of the workflow (`concurrency`) or a limit. */
            slot?: components["schemas"]["RunSlotWait"];
            /**
             * Format: date-time
             * @description Time at which the run continues by itself.
             * @example 2026-01-31T09:30:00.000Z
             */
            until?: string;
        };
        SavedRevision: {
            /**
             * @description Caller who saved it; absent without authentication.
             * @example ada
             */
            author?: string;
            /**
             * Format: date-time
             * @description Time at which the workflow was created. Revisions with another time belong to a deleted workflow of the same name. Absent if unknown.
             */
            createdAt?: string;
            /**
             * @description Revision that this one restores.
             * @example 3
             */
            restoredFrom?: string;
            /** @example 7 */
            revision: string;
            /** Format: date-time */
            savedAt: string;
        };
        SavedWorkflowView: {
            /**
             * @description URL of the JSON Schema of definitions, for editors; it is stored.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /** @description Limits what a run spends on models, with all runs, conversations and agents that it calls. */
            budget?: components["schemas"]["BudgetBody"];
            /** @description Limits the runs of the workflow that are under way at the same time. */
            concurrency?: components["schemas"]["ConcurrencyBody"];
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Time limit of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets a person by name. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description Media types of Messages to the workflow; default: those that its first nodes read.
             * @example [
             *       "text/plain",
             *       "image/*"
             *     ]
             */
            inputModes?: string[];
            /**
             * @description 1: strings are plain text with `{{references}}`. 2: `${…}` in a string is also an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Name of the workflow; a name in the path takes precedence.
             * @example greeting
             */
            name: string;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            notes?: components["schemas"]["NoteBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Maximum number of nodes that run at once.
             * @example 20
             */
            parallel?: number;
            /** @description Warnings for the author; absent if there are none. */
            problems?: components["schemas"]["WorkflowProblemView"][];
            /**
             * @description Revision; it grows with every save.
             * @example 7
             */
            revision: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ScheduleBody: {
            /**
             * Format: date-time
             * @description The only time at which the schedule fires.
             */
            at?: string;
            /**
             * @description Time by which a run may be late, for example after an outage; later times count as missed.
             * @default 10m
             */
            catchUp: string;
            /**
             * @description Cron expression: minute, hour, day of the month, month, day of the week; with six fields seconds come first. At most 100 characters. Exactly one of `cron`, `every` and `at` is given.
             * @example 30 7 * * mon-fri
             */
            cron?: string;
            /**
             * Format: date-time
             * @description Last moment at which the schedule may fire.
             */
            endAt?: string;
            /**
             * @description Interval from 1s to 365d, counted from `startAt`, or from 1970-01-01T00:00:00Z.
             * @example 15m
             */
            every?: string;
            /**
             * @description Inputs of each run; at most 65536 characters as JSON.
             * @default {}
             * @example {
             *       "text": "Good morning"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /**
             * @description Maximum delay of each run, so that schedules of the same time do not start together.
             * @example 30s
             */
            jitter?: string;
            /** @example morning-report */
            name: string;
            /**
             * @description What happens to a time that comes while an earlier run of the schedule has not ended.
             * @default skip
             * @enum {string}
             */
            overlap: "skip" | "queue-one" | "queue" | "cancel" | "allow";
            /**
             * @description Number of failed runs in a row after which the schedule is paused.
             * @example 3
             */
            pauseAfterFailures?: number;
            /**
             * Format: date-time
             * @description First moment at which the schedule may fire.
             */
            startAt?: string;
            /**
             * @description IANA time zone of `cron`.
             * @default UTC
             * @example Europe/Berlin
             */
            timeZone: string;
            /**
             * @description Name of the workflow that is run.
             * @example greeting
             */
            workflow: string;
        };
        ScheduleFiringListView: {
            firings: components["schemas"]["ScheduleFiringView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        ScheduleFiringView: {
            /** @enum {string} */
            cause: "time" | "backfill" | "request";
            /** Format: date-time */
            decidedAt: string;
            /**
             * Format: date-time
             * @description Time of the schedule; for `missed` the last of several.
             */
            due: string;
            /** @example 1234 */
            id: string;
            /** @example An earlier run of the schedule had not ended. */
            reason?: string;
            /**
             * @description Absent if no run was started.
             * @example 019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11
             */
            runId?: string;
            /**
             * @description State of the run; `ended` for a run that is no longer stored. `queued`, `skipped` and `missed` have no run.
             * @enum {string}
             */
            state: "queued" | "starting" | "running" | "completed" | "failed" | "canceled" | "ended" | "skipped" | "missed";
        };
        ScheduleListView: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            schedules: components["schemas"]["ScheduleView"][];
        };
        SchedulePauseBody: {
            /** @example The printer is away until Monday. */
            note?: string;
        };
        ScheduleReplacementBody: {
            /**
             * Format: date-time
             * @description The only time at which the schedule fires.
             */
            at?: string;
            /**
             * @description Time by which a run may be late, for example after an outage; later times count as missed.
             * @default 10m
             */
            catchUp: string;
            /**
             * @description Cron expression: minute, hour, day of the month, month, day of the week; with six fields seconds come first. At most 100 characters. Exactly one of `cron`, `every` and `at` is given.
             * @example 30 7 * * mon-fri
             */
            cron?: string;
            /**
             * Format: date-time
             * @description Last moment at which the schedule may fire.
             */
            endAt?: string;
            /**
             * @description Interval from 1s to 365d, counted from `startAt`, or from 1970-01-01T00:00:00Z.
             * @example 15m
             */
            every?: string;
            /**
             * @description Inputs of each run; at most 65536 characters as JSON.
             * @default {}
             * @example {
             *       "text": "Good morning"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /**
             * @description Maximum delay of each run, so that schedules of the same time do not start together.
             * @example 30s
             */
            jitter?: string;
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /**
             * @description What happens to a time that comes while an earlier run of the schedule has not ended.
             * @default skip
             * @enum {string}
             */
            overlap: "skip" | "queue-one" | "queue" | "cancel" | "allow";
            /**
             * @description Number of failed runs in a row after which the schedule is paused.
             * @example 3
             */
            pauseAfterFailures?: number;
            /**
             * Format: date-time
             * @description First moment at which the schedule may fire.
             */
            startAt?: string;
            /**
             * @description IANA time zone of `cron`.
             * @default UTC
             * @example Europe/Berlin
             */
            timeZone: string;
            /**
             * @description Name of the workflow that is run.
             * @example greeting
             */
            workflow: string;
        };
        ScheduleTimingBody: {
            /**
             * Format: date-time
             * @description The only time at which the schedule fires.
             */
            at?: string;
            /**
             * @description Cron expression: minute, hour, day of the month, month, day of the week; with six fields seconds come first. At most 100 characters. Exactly one of `cron`, `every` and `at` is given.
             * @example 30 7 * * mon-fri
             */
            cron?: string;
            /**
             * Format: date-time
             * @description Last moment at which the schedule may fire.
             */
            endAt?: string;
            /**
             * @description Interval from 1s to 365d, counted from `startAt`, or from 1970-01-01T00:00:00Z.
             * @example 15m
             */
            every?: string;
            /**
             * Format: date-time
             * @description First moment at which the schedule may fire.
             */
            startAt?: string;
            /**
             * @description IANA time zone of `cron`.
             * @default UTC
             * @example Europe/Berlin
             */
            timeZone: string;
        };
        ScheduleView: {
            /**
             * Format: date-time
             * @description The only time at which the schedule fires.
             */
            at?: string;
            /**
             * @description Time by which a run may be late, for example after an outage; later times count as missed.
             * @default 10m
             */
            catchUp: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Cron expression: minute, hour, day of the month, month, day of the week; with six fields seconds come first. At most 100 characters. Exactly one of `cron`, `every` and `at` is given.
             * @example 30 7 * * mon-fri
             */
            cron?: string;
            /**
             * Format: date-time
             * @description Last moment at which the schedule may fire.
             */
            endAt?: string;
            /**
             * @description Interval from 1s to 365d, counted from `startAt`, or from 1970-01-01T00:00:00Z.
             * @example 15m
             */
            every?: string;
            /**
             * @description Inputs of each run; at most 65536 characters as JSON.
             * @default {}
             * @example {
             *       "text": "Good morning"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /**
             * @description Maximum delay of each run, so that schedules of the same time do not start together.
             * @example 30s
             */
            jitter?: string;
            /** @example morning-report */
            name: string;
            /** @description The next ten times, without jitter; in a list only the first. Empty if paused. */
            nextTimes: string[];
            /** @example Paused by the service after 3 failed runs in a row. */
            note?: string;
            /**
             * @description What happens to a time that comes while an earlier run of the schedule has not ended.
             * @default skip
             * @enum {string}
             */
            overlap: "skip" | "queue-one" | "queue" | "cancel" | "allow";
            /**
             * @description Caller under whose name the runs are started.
             * @example ann
             */
            owner: string;
            /**
             * @description Number of failed runs in a row after which the schedule is paused.
             * @example 3
             */
            pauseAfterFailures?: number;
            paused: boolean;
            /**
             * Format: date-time
             * @description First moment at which the schedule may fire.
             */
            startAt?: string;
            /**
             * @description IANA time zone of `cron`.
             * @default UTC
             * @example Europe/Berlin
             */
            timeZone: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @description Name of the workflow that is run.
             * @example greeting
             */
            workflow: string;
        };
        SentObject: {
            /**
             * @description The body with which the API of the kind creates the object; for an `agent` that of `POST /api/agents`.
             * @example {
             *       "name": "translator",
             *       "url": "https://agent.example.com/a2a"
             *     }
             */
            definition: {
                [key: string]: unknown;
            };
            /**
             * @description Kind of the object.
             * @enum {string}
             */
            kind: "agent" | "credential" | "model" | "mcp-server" | "key" | "schedule" | "trigger" | "limit";
            /**
             * @description Expected current revision; null: the object must not exist; absent: any revision.
             * @example 2026-11-30T08:00:00.000Z
             */
            revision?: string | null;
        };
        SentPromptView: {
            /**
             * @description Maximum number of tokens of the answer.
             * @example 1000
             */
            maxTokens?: number;
            /**
             * @description Messages after the system prompt. A text that was too large is an object with `cut` and `start`.
             * @example [
             *       {
             *         "role": "user",
             *         "parts": [
             *           {
             *             "text": "Hello"
             *           }
             *         ]
             *       }
             *     ]
             */
            messages: {
                [key: string]: unknown;
            }[];
            /**
             * @description JSON Schema for the answer.
             * @example {
             *       "type": "object"
             *     }
             */
            output?: {
                [key: string]: unknown;
            };
            /**
             * @description System prompt. A text that was too large is an object with `cut` and `start`.
             * @example You answer in one sentence.
             */
            system?: unknown;
            /** @example 0.2 */
            temperature?: number;
            /**
             * @description Offered tools, with the names that the model reads.
             * @example [
             *       {
             *         "name": "clock",
             *         "description": "Returns the time.",
             *         "inputSchema": {
             *           "type": "object"
             *         }
             *       }
             *     ]
             */
            tools?: {
                [key: string]: unknown;
            }[];
        };
        SentWorkflow: {
            definition: components["schemas"]["WorkflowBody"];
            /**
             * @description Expected current revision; null: the workflow must not exist; absent: any revision.
             * @example 7
             */
            revision?: string | null;
        };
        SessionView: {
            /**
             * @description How callers authenticate (AUTH_MODE).
             * @example api-key
             * @enum {string}
             */
            authentication: "none" | "api-key" | "jwt";
            /**
             * @description Name of the caller; empty without authentication.
             * @example ann
             */
            caller: string;
            /**
             * Format: date-time
             * @description Time at which the session or the token ends.
             */
            endsAt?: string;
            /**
             * @example [
             *       "agents"
             *     ]
             */
            scopes: ("agents" | "workflows" | "prompts" | "admin")[];
            /**
             * @description True if the caller is known by a session's cookie.
             * @example true
             */
            signedIn: boolean;
            /**
             * @description Tenant of the caller; empty if the service has one tenant.
             * @example
             */
            tenant: string;
        };
        SignInOptionsView: {
            /**
             * @description Address that begins a sign-in at the OpenID Connect provider; the query `return` names the page of the console to show afterwards. Absent without a provider.
             * @example https://parley.example.com/auth/sign-in
             */
            signInUrl?: string;
        };
        SkippedToolView: {
            /**
             * @description Name of the skipped tool.
             * @example search
             */
            name: string;
            /** @example has no inputSchema that is an object */
            reason: string;
        };
        SourceView: {
            /** @example ann */
            agent: string;
            /** @example 2 */
            iteration: number;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
        };
        StartedRerun: {
            /**
             * @description Original run whose results the new run takes over.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            origin: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        StartedRun: {
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        StateAgentView: {
            /** @example agent-1 */
            agent_id: string;
            /** @example llama-4 */
            model: string;
            /** @example ann */
            name: string;
            /** @example openai-compatible */
            provider: string;
            /** @enum {string} */
            role: "build" | "review" | "refine" | "devils_advocate";
            /**
             * @example [
             *       "security"
             *     ]
             */
            skills: string[];
        };
        StateMeta: {
            agents: components["schemas"]["StateAgentView"][];
            /** @example 2 */
            iteration: number;
        };
        StateMetrics: {
            /** @example 0.8 */
            confidence: number;
        };
        StoppedAgentView: {
            /** @example ann */
            agent: string;
            /** @example acknowledged */
            outcome: string;
            /** @example 019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70 */
            taskId?: string;
        };
        TakenAnswer: {
            /**
             * @description Instance that was answered.
             * @example gate
             */
            instance: string;
            /**
             * @description A2A taskId of the run.
             * @example 019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e
             */
            runId: string;
        };
        TaskLogView: {
            events: components["schemas"]["LoggedEventView"][];
            /**
             * @description Value of `after` for the next page; absent on the last page.
             * @example 100
             */
            next?: number;
        };
        TicketView: {
            /** Format: date-time */
            expiresAt: string;
            /**
             * @description Subprotocols for `new WebSocket(url, protocols)`.
             * @example [
             *       "parley.events",
             *       "parley.ticket.mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t"
             *     ]
             */
            protocols: string[];
            /** @example mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t */
            ticket: string;
        };
        TokenUsage: {
            /** @example 9120 */
            inputTokens: number;
            /** @example 640 */
            outputTokens: number;
        };
        TokenUsageView: {
            /** @example 2 */
            inputTokens: number;
            /** @example 2 */
            outputTokens: number;
        };
        TriggerBody: {
            /**
             * @description Inputs of the run, with CEL expressions as `${…}`; at most 16384 characters as JSON.
             * @default {}
             * @example {
             *       "name": "${body.sender.login}"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /** @example on-push */
            name: string;
            /** @description Source of events: ends of runs. Exactly one of `webhook` and `run` is given. */
            run?: components["schemas"]["EndedRunBody"];
            /** @description Source of events: requests to the address `url`. */
            webhook?: components["schemas"]["WebhookSourceBody"];
            /**
             * @description CEL condition on an event; other events start no run. Without it, each event starts a run.
             * @example body.ref == 'refs/heads/main'
             */
            when?: string;
            /**
             * @description Name of the workflow that is run.
             * @example greeting
             */
            workflow: string;
        };
        TriggerDeliveryListView: {
            deliveries: components["schemas"]["TriggerDeliveryView"][];
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
        };
        TriggerDeliveryView: {
            /** @enum {string} */
            cause: "delivery" | "replay" | "run";
            /**
             * @description Id by which the sender repeats the delivery; a digest of the body if it sends none.
             * @example 72d3162e-cc78-11e3-81ab-4c9367dc0958
             */
            deliveryId: string;
            /** @description Members of the trigger at fault. */
            errors?: components["schemas"]["ProblemEntry"][];
            /** @example 1234 */
            number: string;
            /** @example The condition of the trigger is false. */
            reason?: string;
            /** Format: date-time */
            receivedAt: string;
            /** @description True if the content is still kept, so that the delivery can be sent again. */
            replayable: boolean;
            /**
             * @description Absent if no run was started.
             * @example 019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11
             */
            runId?: string;
            /**
             * @description State of the run; `ended` for a run that is no longer stored. `filtered`, `rejected` and `skipped` have no run.
             * @enum {string}
             */
            state: "starting" | "running" | "completed" | "failed" | "canceled" | "ended" | "filtered" | "rejected" | "skipped";
        };
        TriggerListView: {
            /**
             * @description Empty on the last page.
             * @example
             */
            nextPageToken: string;
            triggers: components["schemas"]["TriggerView"][];
        };
        TriggerReplacementBody: {
            /**
             * @description Inputs of the run, with CEL expressions as `${…}`; at most 16384 characters as JSON.
             * @default {}
             * @example {
             *       "name": "${body.sender.login}"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            /** @description Source of events: ends of runs. Exactly one of `webhook` and `run` is given. */
            run?: components["schemas"]["EndedRunBody"];
            /** @description Source of events: requests to the address `url`. */
            webhook?: components["schemas"]["WebhookSourceBody"];
            /**
             * @description CEL condition on an event; other events start no run. Without it, each event starts a run.
             * @example body.ref == 'refs/heads/main'
             */
            when?: string;
            /**
             * @description Name of the workflow that is run.
             * @example greeting
             */
            workflow: string;
        };
        TriggerView: {
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Inputs of the run, with CEL expressions as `${…}`; at most 16384 characters as JSON.
             * @default {}
             * @example {
             *       "name": "${body.sender.login}"
             *     }
             */
            inputs: {
                [key: string]: unknown;
            };
            /** @example on-push */
            name: string;
            /**
             * @description Caller under whose name the runs are started.
             * @example ann
             */
            owner: string;
            /** @description Source of events: ends of runs. Exactly one of `webhook` and `run` is given. */
            run?: components["schemas"]["EndedRunBody"];
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: uri
             * @description Address for the deliveries of a webhook.
             * @example https://parley.example.com/hooks/3f0c9a572f8f0f6f3b525d1a4c1e7a53
             */
            url?: string;
            /** @description Source of events: requests to the address `url`. */
            webhook?: components["schemas"]["WebhookSourceBody"];
            /**
             * @description CEL condition on an event; other events start no run. Without it, each event starts a run.
             * @example body.ref == 'refs/heads/main'
             */
            when?: string;
            /**
             * @description Name of the workflow that is run.
             * @example greeting
             */
            workflow: string;
        };
        TurnBody: {
            /** @example Make it rhyme. */
            text: string;
        };
        UploadedView: {
            files: components["schemas"]["FileView"][];
        };
        UsageDays: {
            /**
             * Format: date
             * @description First day, in UTC.
             * @example 2026-01-30
             */
            since: string;
            /**
             * Format: date
             * @description Last day, in UTC.
             * @example 2026-01-31
             */
            until: string;
        };
        UsageGroupView: {
            /**
             * @description Input tokens from the providers' caches; absent if none is reported.
             * @example 18200
             */
            cachedInputTokens?: number;
            /**
             * @description Input tokens that are written to the providers' caches; absent if none is reported.
             * @example 18200
             */
            cacheWriteInputTokens?: number;
            /**
             * @description Number of calls of models.
             * @example 12
             */
            calls: number;
            /**
             * @description Cost in US dollars, an exact decimal number; absent if unknown.
             * @example 0.0421
             */
            cost?: string;
            /**
             * @description Number of input tokens; absent if unknown.
             * @example 18200
             */
            inputTokens?: number;
            /**
             * @description Workflow, caller, model or day of the calls.
             * @example greeting
             */
            key: string;
            /**
             * @description Number of output tokens; absent if unknown.
             * @example 18200
             */
            outputTokens?: number;
            /**
             * @description Output tokens of reasoning; absent if none is reported.
             * @example 18200
             */
            reasoningTokens?: number;
            /**
             * @description Number of calls whose cost is unknown; `cost` omits them.
             * @example 0
             */
            unpricedCalls: number;
            /**
             * @description Number of calls whose tokens are unknown; no sum includes them.
             * @example 0
             */
            unreportedCalls: number;
        };
        UsageReport: {
            /** @description Groups, the most tokens first; days newest first. */
            groups: components["schemas"]["UsageGroupView"][];
            /**
             * @description True if there are more groups; `total` includes them.
             * @example false
             */
            more: boolean;
            /**
             * Format: date
             * @description First day, in UTC.
             * @example 2026-01-02
             */
            since: string;
            total: components["schemas"]["UsageView"];
            /**
             * Format: date
             * @description Last day, in UTC.
             * @example 2026-01-31
             */
            until: string;
        };
        UsageView: {
            /**
             * @description Input tokens from the providers' caches; absent if none is reported.
             * @example 18200
             */
            cachedInputTokens?: number;
            /**
             * @description Input tokens that are written to the providers' caches; absent if none is reported.
             * @example 18200
             */
            cacheWriteInputTokens?: number;
            /**
             * @description Number of calls of models.
             * @example 12
             */
            calls: number;
            /**
             * @description Cost in US dollars, an exact decimal number; absent if unknown.
             * @example 0.0421
             */
            cost?: string;
            /**
             * @description Number of input tokens; absent if unknown.
             * @example 18200
             */
            inputTokens?: number;
            /**
             * @description Number of output tokens; absent if unknown.
             * @example 18200
             */
            outputTokens?: number;
            /**
             * @description Output tokens of reasoning; absent if none is reported.
             * @example 18200
             */
            reasoningTokens?: number;
            /**
             * @description Number of calls whose cost is unknown; `cost` omits them.
             * @example 0
             */
            unpricedCalls: number;
            /**
             * @description Number of calls whose tokens are unknown; no sum includes them.
             * @example 0
             */
            unreportedCalls: number;
        };
        WaitBody: {
            /** @example 48h */
            deadline: string;
            /**
             * @example {
             *       "decision": "no"
             *     }
             */
            default?: Record<string, never> | string;
        };
        WaitingView: {
            /** @description Runs that wait for a time, such as a retry or a delay. */
            parked: components["schemas"]["WaitsView"];
            /** @description Open questions. */
            questions: components["schemas"]["WaitsView"];
            /** @description Runs that have not begun. */
            queued: components["schemas"]["WaitsView"];
        };
        WaitsView: {
            /**
             * @description Number that has waited for a day or longer.
             * @example 3
             */
            longer: number;
            /**
             * @description True if there may be more: at most 1,000 are read.
             * @example false
             */
            more: boolean;
            /** @description Longest wait; absent without any. */
            oldest?: components["schemas"]["OldestWait"];
            /**
             * @description Number in all.
             * @example 3
             */
            total: number;
            /**
             * @description Number that has waited for an hour to a day.
             * @example 3
             */
            underDay: number;
            /**
             * @description Number that has waited for less than an hour.
             * @example 3
             */
            underHour: number;
        };
        WebhookSourceBody: {
            /**
             * @description Algorithm of `hmac`; default: `sha256`.
             * @enum {string}
             */
            algorithm?: "sha1" | "sha256" | "sha384" | "sha512";
            /**
             * @description Encoding of the signature of `hmac`; default: `hex`.
             * @enum {string}
             */
            encoding?: "hex" | "base64";
            /**
             * @description Header with the signature (`hmac`, required) or with the token (`bearer`; default: `Authorization`).
             * @example X-Signature
             */
            header?: string;
            /**
             * @description Header with the id of a delivery (`hmac`, `bearer`). Default: deliveries with equal bodies are one.
             * @example X-Delivery-Id
             */
            idHeader?: string;
            /**
             * @description Text before the signature of `hmac`.
             * @example sha256=
             */
            prefix?: string;
            /**
             * @description Way in which the sender proves a delivery.
             * @example github
             * @enum {string}
             */
            scheme: "github" | "stripe" | "slack" | "standard-webhooks" | "hmac" | "bearer";
            /**
             * @description Names of one or two credentials of the kind `bearer`, whose tokens are the secrets. Both are valid, so a secret can be replaced without a gap.
             * @example [
             *       "github-push"
             *     ]
             */
            secrets: string[];
        };
        WorkflowBody: {
            /**
             * @description URL of the JSON Schema of definitions, for editors; it is stored.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /** @description Limits what a run spends on models, with all runs, conversations and agents that it calls. */
            budget?: components["schemas"]["BudgetBody"];
            /** @description Limits the runs of the workflow that are under way at the same time. */
            concurrency?: components["schemas"]["ConcurrencyBody"];
            /**
             * @description Time limit of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets a person by name. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description Media types of Messages to the workflow; default: those that its first nodes read.
             * @example [
             *       "text/plain",
             *       "image/*"
             *     ]
             */
            inputModes?: string[];
            /**
             * @description 1: strings are plain text with `{{references}}`. 2: `${…}` in a string is also an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Name of the workflow; a name in the path takes precedence.
             * @example greeting
             */
            name: string;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            notes?: components["schemas"]["NoteBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Maximum number of nodes that run at once.
             * @example 20
             */
            parallel?: number;
        };
        WorkflowEdgeBody: {
            /**
             * @description Id of the source node.
             * @example topic
             */
            from: string;
            /** @description Makes the edge a loop, which repeats the nodes between its ends. */
            loop?: components["schemas"]["LoopBody"];
            /**
             * @default success
             * @enum {string}
             */
            on: "success" | "failure" | "always";
            /**
             * @description Id of the target node.
             * @example writer
             */
            to: string;
            /**
             * @description CEL that gives true or false.
             * @example nodes.gate.data.decision == 'yes'
             */
            when?: string;
        };
        WorkflowFailures: {
            /** @description Last completed run; absent if none of the searched runs completed. */
            completed?: components["schemas"]["EndedRunView"];
            /**
             * @description Failed runs since the last completed one.
             * @example 3
             */
            failures: number;
            /** @description Earliest of these failed runs; the workflow has failed since the revision of this run. */
            first?: components["schemas"]["EndedRunView"];
            /**
             * @description True if none of the newest 1,000 runs completed; older runs are not searched.
             * @example false
             */
            more: boolean;
        };
        WorkflowNodeBody: {
            /**
             * @default every
             * @enum {string}
             */
            branch: "every" | "first";
            /**
             * @example {
             *       "prompt": "Greet {{topic}}"
             *     }
             */
            config?: {
                [key: string]: unknown;
            };
            /** @description Runs the node once for each entry of a list. */
            each?: components["schemas"]["EachBody"];
            /** @description Result of the node if no attempt succeeds. */
            fallback?: components["schemas"]["FallbackBody"];
            /** @example writer */
            id: string;
            /** @default all */
            join: ("all" | "any") | Record<string, never>;
            /** @description Handling of questions that get no answer. */
            onWait?: components["schemas"]["WaitBody"];
            /** @description Required form of the result. */
            output?: components["schemas"]["OutputBody"];
            /** @description Position of the node in an editor. */
            position?: components["schemas"]["PositionBody"];
            /** @description Conditions and delays of retries. */
            retry?: components["schemas"]["RetryBody"];
            /**
             * @description Time limit of one attempt.
             * @example 2m
             */
            timeout?: string;
            /** @example input */
            type: string;
        };
        WorkflowOverview: {
            /**
             * @description Median seconds of the completed runs from start to end, with all waits; absent without any.
             * @example 1.25
             */
            p50?: number;
            /**
             * @description 95th percentile of these seconds.
             * @example 1.25
             */
            p95?: number;
            /** @description Runs that last changed in the range. */
            runs: components["schemas"]["RunCounts"];
            /** @description Calls of models of its nodes in `usageDays`; absent if there are none. */
            usage?: components["schemas"]["UsageView"];
            /** @example greeting */
            workflow: string;
        };
        WorkflowProblems: {
            problems: components["schemas"]["WorkflowProblemView"][];
        };
        WorkflowProblemView: {
            /** @example UNKNOWN_REFERENCE */
            code: string;
            /** @example node "writer": {{nope}} stands for nothing */
            detail: string;
            /**
             * @description Index of the affected edge.
             * @example 0
             */
            edge?: number;
            /**
             * @description Id of the affected node.
             * @example writer
             */
            node?: string;
            /**
             * @description Offset of the problem in the string at the path, in UTF-16 code units.
             * @example 6
             */
            offset?: number;
            /** @example nodes[1].config.prompt */
            path: string;
            /** @enum {string} */
            severity: "error" | "warning";
        };
        WorkflowReplacementBody: {
            /**
             * @description URL of the JSON Schema of definitions, for editors; it is stored.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /** @description Limits what a run spends on models, with all runs, conversations and agents that it calls. */
            budget?: components["schemas"]["BudgetBody"];
            /** @description Limits the runs of the workflow that are under way at the same time. */
            concurrency?: components["schemas"]["ConcurrencyBody"];
            /**
             * @description Time limit of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets a person by name. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description Media types of Messages to the workflow; default: those that its first nodes read.
             * @example [
             *       "text/plain",
             *       "image/*"
             *     ]
             */
            inputModes?: string[];
            /**
             * @description 1: strings are plain text with `{{references}}`. 2: `${…}` in a string is also an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Ignored: the path has the name.
             * @example greeting
             */
            name?: unknown;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            notes?: components["schemas"]["NoteBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Maximum number of nodes that run at once.
             * @example 20
             */
            parallel?: number;
        };
        WorkflowView: {
            /**
             * @description URL of the JSON Schema of definitions, for editors; it is stored.
             * @example https://parley.example/schemas/workflow.json
             */
            $schema?: string;
            /** @description Limits what a run spends on models, with all runs, conversations and agents that it calls. */
            budget?: components["schemas"]["BudgetBody"];
            /** @description Limits the runs of the workflow that are under way at the same time. */
            concurrency?: components["schemas"]["ConcurrencyBody"];
            /** Format: date-time */
            createdAt: string;
            /**
             * @description Time limit of the whole run.
             * @example 2h
             */
            deadline?: string;
            /** @example Greets a person by name. */
            description?: string;
            edges?: components["schemas"]["WorkflowEdgeBody"][];
            /**
             * @description Media types of Messages to the workflow; default: those that its first nodes read.
             * @example [
             *       "text/plain",
             *       "image/*"
             *     ]
             */
            inputModes?: string[];
            /**
             * @description 1: strings are plain text with `{{references}}`. 2: `${…}` in a string is also an expression.
             * @default 1
             * @enum {number}
             */
            language: 1 | 2;
            /**
             * @description Name of the workflow; a name in the path takes precedence.
             * @example greeting
             */
            name: string;
            nodes: components["schemas"]["WorkflowNodeBody"][];
            notes?: components["schemas"]["NoteBody"][];
            onExit?: components["schemas"]["ExitBody"][];
            /**
             * @default cancel
             * @enum {string}
             */
            onFailure: "cancel" | "continue";
            /**
             * @description Maximum number of nodes that run at once.
             * @example 20
             */
            parallel?: number;
            /**
             * @description Revision; it grows with every save.
             * @example 7
             */
            revision: string;
            /** Format: date-time */
            updatedAt: string;
        };
    };
    responses: {
        /** @description The caller has reached one of its limits. */
        Limited: {
            headers: {
                /** @description Seconds until the next try. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is malformed. */
        Malformed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body has another media type, or is compressed. */
        OtherMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is larger than BODY_LIMIT. */
        TooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A part of the service is out of reach now. */
        Unavailable: {
            headers: {
                /** @description Seconds until the next try. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listSigningKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeySetView"];
                };
            };
        };
    };
    receiveAgentNotification: {
        parameters: {
            query?: never;
            header: {
                /** @description Token of the webhook. */
                "X-A2A-Notification-Token": string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is missing, or is not that of the webhook; or the signature is wrong. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The webhook is out of use: the task has a newer one, or was deleted. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The notification has more than 1048576 bytes. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The database or the JWK Set of the agent is out of reach; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    previewAgentCard: {
        parameters: {
            query: {
                /** @description Base URL of the agent, or the URL of its card. */
                url: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardPreviewView"];
                };
            };
            /** @description The URL is missing or malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAgentCards: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "pinned" | "changed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardPageView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentCard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardDetailView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description There is no such card. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    acceptAgentCard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcceptBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CardDetailView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such card. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No such change waits to be accepted. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendAgentMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentMessageBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example data: {"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"Hello"}]}} */
                    "text/event-stream": string;
                };
            };
            /** @description The URL or the Message is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRegisteredAgents: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredAgentListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createRegisteredAgent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisteredAgentBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredAgentView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An agent of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The agent cannot be served: it has no usable card; or the tenant has reached its limit of agents. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRegisteredAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredAgentView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description agent not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceRegisteredAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisteredAgentReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredAgentView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description agent not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The agent cannot be served: it has no usable card. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteRegisteredAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description agent not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    applyWorkflows: {
        parameters: {
            query?: {
                /** @description Dry run: reports the changes without applying them. */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppliedView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request has objects, and the caller lacks the scope `admin`. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow or object is being changed by others. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Something does not have the expected revision, or `adopt` is false and it has another mark. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description A graph is invalid, or an object cannot be saved: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listBrainstorms: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "active" | "converged" | "approved" | "failed" | "canceled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startBrainstorm: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same brainstorm. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrainstormBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormId"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another brainstorm was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description An agent is not available, or a value is not allowed. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    approveBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormStatusReport"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No pass is complete yet, or the brainstorm has another outcome. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormStatusReport"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The brainstorm has ended with another outcome. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamBrainstormEvents: {
        parameters: {
            query?: {
                /** @description Number of the last event received. */
                since?: number;
            };
            header?: {
                /** @description Same as `since`; takes precedence over it. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `brainstorm.converged`, `.failed`, `.approved` or `.canceled`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: brainstorm.converged
                     *     data: {"type":"brainstorm.converged","sequence":7}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The cursor is malformed or beyond the last event. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    iterateBrainstorm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrainstormStatusReport"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description brainstorm not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The brainstorm has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "active" | "complete";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same conversation. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another conversation was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description A number is out of its range, or an agent is not known. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended with another outcome. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamConversationEvents: {
        parameters: {
            query?: {
                /** @description Number of the last event received. */
                since?: number;
            };
            header?: {
                /** @description Same as `since`; takes precedence over it. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `a2a` with the phase `complete`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: a2a
                     *     data: {"stream":"a2a","cseq":7,"data":{"phase":"complete"},"outcome":"done"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The cursor is malformed or beyond the last event. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pauseConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stopConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    injectTurn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationId"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description conversation not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The conversation has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCredentials: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createCredential: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyBody"] | components["schemas"]["BearerBody"] | components["schemas"]["BasicBody"] | components["schemas"]["OAuth2Body"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A credential of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The tenant has reached its limit of credentials. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description credential not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyReplacementBody"] | components["schemas"]["BearerReplacementBody"] | components["schemas"]["BasicReplacementBody"] | components["schemas"]["OAuth2ReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description credential not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description credential not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow, a model, an MCP server, an agent or a trigger names the credential. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "pending" | "delivered" | "failed";
                taskId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPageView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    redeliverNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description delivery not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The config of the delivery was deleted. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                contextId?: string;
                conversationId?: string;
                runId?: string;
                /** @description Cursor of the last frame received; `Last-Event-ID` has the same meaning. */
                since?: string;
                /** @description Names of streams, separated by commas; default: all but `tool`. */
                streams?: string;
                taskId?: string;
            };
            header?: {
                /** @description Same as `since`; takes precedence over it. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the cursor, `data` the frame as JSON. The first frame is a `hello`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: mfx1k2
                     *     data: {"type":"hello","cursor":"mfx1k2"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The cursor is too old. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkExpression: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExpressionBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExpressionProblems"];
                };
            };
            /** @description The body or its definition is malformed, or the path names nothing. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFiles: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                /** @description Files whose names contain this text, in any case. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    readFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes. */
                Range?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "application/octet-stream": string;
                };
            };
            /** @description The range of the content. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "application/octet-stream": string;
                };
            };
            /** @description The client has the content already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description file not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The range is beyond the content. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description file not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Tasks of the caller refer to the file; it is kept as long as these Tasks. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createFileUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FileUrlBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileUrlView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description file not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    generateWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GenerateBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneratedWorkflow"];
                    /**
                     * @example event: generate.started
                     *     data: {"model":"large"}
                     *
                     *     event: done
                     *     data: {"workflow":{"name":"summary","nodes":[],"edges":[]},"problems":[],"attempts":1,"model":"large","usage":{"inputTokens":9120,"outputTokens":640}}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The description or `current` is too long. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: components["responses"]["OtherMediaType"];
            /** @description The description is blank, the model is unknown, or no model is configured (`NO_MODEL`). */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Two requests of the caller, or twelve of its tenant, are under way; `Retry-After` says when to retry. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The model failed (`MODEL_FAILED`), or its answer is no definition (`GENERATION_FAILED`). */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Sixteen requests of all callers are under way at this replica, or the replica is shutting down. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The model did not finish in time (`GENERATION_FAILED`). */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listQuestions: {
        parameters: {
            query?: {
                /** @description Lists only questions with this label. */
                assignee?: string;
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description True to include the hashes of the keys, by which files describe them. */
                hashes?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MakeKeyBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeKeyView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description There is no such key. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is the last valid key with the scope `admin`, or the service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKeyBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeKeyView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The key does not exist or is no longer valid. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service does not use keys. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listLimits: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createLimit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LimitBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `allTenants` is true, and the caller is not of `OPERATOR_TENANT`. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A limit of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The tenant has too many limits. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description limit not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LimitReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `allTenants` is true, and the caller is not of `OPERATOR_TENANT`. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description limit not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteLimit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description limit not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMcpServers: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpServerBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An MCP server of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description Only the file of the operator may start programs; or the tenant has reached its limit of servers. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerDetailView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server comes from the file of the operator. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description Only the file of the operator may start programs. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The server comes from the file of the operator. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    acceptMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpAcceptBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerDetailView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No such change waits to be accepted. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    callTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["McpToolCallBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpToolCallView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description MCP server not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The tool may change something, and the call is not confirmed (`CONFIRMATION_REQUIRED`). */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The server has no such tool, or the tool may not be called. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller has two calls under way, its tenant four, or twenty in the last minute. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many calls are under way at this replica, or the replica is shutting down. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listModels: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createModel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A model of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The tenant has reached its limit of models. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow names the model. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    testModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTestView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description model not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller has two tests under way, its tenant four, or twenty in the last minute; `Retry-After` says when to retry. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many tests are under way at this replica, or the replica is shutting down. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    testUnsavedModel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTestView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The caller has two tests under way, its tenant four, or twenty in the last minute; `Retry-After` says when to retry. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many tests are under way at this replica, or the replica is shutting down. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /** @description Begin of the range; default: 24 hours before `until`. */
                since?: string;
                /** @description End of the range, not included; default: now. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Id of a cause in `GET /api/overview`: lists the runs that failed by it, among the 500 newest failed runs of the range. Cannot be combined with `search` or `parent`. */
                cause?: string;
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                /** @description Lists the child runs of this run; without it, only top-level runs are listed. */
                parent?: string;
                /** @description Part of the workflow's name, ignoring case, or prefix of the run's id. */
                q?: string;
                /** @description Part of the inputs, of the error, of the workflow's name or of the run's id, ignoring case. A page searches a limited number of runs, newest first; `search.until` says how far. Follow `nextPageToken` to search older runs. */
                search?: string;
                /** @description Only runs updated since this time. */
                since?: string;
                /** @description One or several of `running`, `input-required`, `completed`, `failed`, `canceled`, with commas between. */
                status?: string;
                /** @description Only runs last updated before this time. */
                until?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    exportRuns: {
        parameters: {
            query?: {
                /** @description Id of the last run of an earlier export. With its `updatedAt` as `until`, the export continues after that run. */
                after?: string;
                /** @description Id of a cause in `GET /api/overview`: lists the runs that failed by it, among the 500 newest failed runs of the range. Cannot be combined with `search` or `parent`. */
                cause?: string;
                /** @description Lists the child runs of this run; without it, only top-level runs are listed. */
                parent?: string;
                /** @description Part of the workflow's name, ignoring case, or prefix of the run's id. */
                q?: string;
                /** @description Part of the inputs, of the error, of the workflow's name or of the run's id, ignoring case. A page searches a limited number of runs, newest first; `search.until` says how far. Follow `nextPageToken` to search older runs. */
                search?: string;
                /** @description Only runs updated since this time. */
                since?: string;
                /** @description One or several of `running`, `input-required`, `completed`, `failed`, `canceled`, with commas between. */
                status?: string;
                /** @description Only runs last updated before this time. */
                until?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Runs, one a line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many exports of the caller are under way. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    answerQuestion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TakenAnswer"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found, or node not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The node has no open question. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The answer does not fit the form of the question, or the agent of the node cannot read it. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CanceledRun"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The run has ended with another outcome. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRunCost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunCost"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    diffRuns: {
        parameters: {
            query?: {
                /** @description Run that counts as the earlier one; default: the original run, if this run is a rerun. */
                with?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDiffView"];
                };
            };
            /** @description The parameter is malformed, or it is missing and the run is not a rerun. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamRunEvents: {
        parameters: {
            query?: {
                /** @description True if the stream waits for further events; `false`: it ends with the last event so far. */
                live?: boolean;
                /** @description Number of the last event received. */
                since?: number;
            };
            header?: {
                /** @description Same as `since`; takes precedence over it. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `done`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: done
                     *     data: {"type":"done","sequence":7}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The cursor is malformed or beyond the last event. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listForks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunForks"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInstances: {
        parameters: {
            query?: {
                node?: string;
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
                status?: "pending" | "running" | "input-required" | "completed" | "failed" | "canceled" | "skipped";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunInstances"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRunNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunNodeDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description run not found, or node not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startRerun: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same run. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RerunBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRerun"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description The run has not ended.
             *
             *     Another run was started under this Idempotency-Key.
             */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The instance or the revision does not exist, or the inputs are invalid. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRunWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowBody"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description run not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelRuns: {
        parameters: {
            query?: {
                /** @description Id of a cause in `GET /api/overview`: lists the runs that failed by it, among the 500 newest failed runs of the range. Cannot be combined with `search` or `parent`. */
                cause?: string;
                /** @description Lists the child runs of this run; without it, only top-level runs are listed. */
                parent?: string;
                /** @description Part of the workflow's name, ignoring case, or prefix of the run's id. */
                q?: string;
                /** @description Part of the inputs, of the error, of the workflow's name or of the run's id, ignoring case. A page searches a limited number of runs, newest first; `search.until` says how far. Follow `nextPageToken` to search older runs. */
                search?: string;
                /** @description Only runs updated since this time. */
                since?: string;
                /** @description One or several of `running`, `input-required`, `completed`, `failed`, `canceled`, with commas between. */
                status?: string;
                /** @description Only runs last updated before this time. */
                until?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BulkBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkReport"];
                };
            };
            /** @description A parameter is malformed, or nothing selects runs. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description Too many actions of the caller are under way. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    countRuns: {
        parameters: {
            query?: {
                /** @description Only runs updated since this time. */
                since?: string;
                /** @description One or several of `running`, `input-required`, `completed`, `failed`, `canceled`, with commas between. */
                status?: string;
                /** @description Only runs last updated before this time. */
                until?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunCount"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    rerunRuns: {
        parameters: {
            query?: {
                /** @description Id of a cause in `GET /api/overview`: lists the runs that failed by it, among the 500 newest failed runs of the range. Cannot be combined with `search` or `parent`. */
                cause?: string;
                /** @description Lists the child runs of this run; without it, only top-level runs are listed. */
                parent?: string;
                /** @description Part of the workflow's name, ignoring case, or prefix of the run's id. */
                q?: string;
                /** @description Part of the inputs, of the error, of the workflow's name or of the run's id, ignoring case. A page searches a limited number of runs, newest first; `search.until` says how far. Follow `nextPageToken` to search older runs. */
                search?: string;
                /** @description Only runs updated since this time. */
                since?: string;
                /** @description One or several of `running`, `input-required`, `completed`, `failed`, `canceled`, with commas between. */
                status?: string;
                /** @description Only runs last updated before this time. */
                until?: string;
                workflow?: string;
            };
            header?: {
                /** @description A repeated request with the same key starts no second rerun of a run. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BulkRerunBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkReport"];
                };
            };
            /** @description A parameter is malformed, or nothing selects runs. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description Too many actions of the caller are under way. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A schedule of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The workflow does not exist or does not take the inputs; or the tenant has too many schedules. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The workflow does not exist or does not take the inputs. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    backfillSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackfillBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The period has more than 1000 times, or too many runs are queued. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFirings: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleFiringListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    pauseSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SchedulePauseBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    resumeSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    runSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestedRunView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description schedule not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The run cannot start, for example because its workflow was deleted; or too many runs are open. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTimes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleTimingBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NextTimesView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            400: components["responses"]["Malformed"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description The request has the cookie of a session and no key or token, or the service needs no sign-in. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description There are too many sessions. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedSessionView"];
                };
            };
            400: components["responses"]["Malformed"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTaskEvents: {
        parameters: {
            query?: {
                /** @description Lists events after this number; `next` of the previous page. */
                after?: number;
                /** @description Maximum number of events; a page also ends after one megabyte. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLogView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description task not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptListView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description task not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Number of the call in the Task, from 1. */
                call: number;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptTextsView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description task not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTicket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketView"];
                };
            };
            400: components["responses"]["Malformed"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTriggers: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TriggerBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A trigger of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The workflow or a credential does not exist; or the tenant has too many triggers. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description trigger not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TriggerReplacementBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description trigger not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The workflow or a credential does not exist. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description trigger not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTriggerDeliveries: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerDeliveryListView"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description trigger not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryAnswerView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description The trigger or the delivery was not found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The content of the delivery is no longer kept. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The trigger gives no valid inputs for this delivery. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many deliveries wait for the ends of their runs; `Retry-After` says when to try again. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: components["responses"]["Unavailable"];
        };
    };
    uploadFiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    file: string[];
                };
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedView"];
                };
            };
            /** @description The form or a name is malformed, or the body is incomplete. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A file exceeds FILE_LIMIT, or the caller has reached FILES_QUOTA. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: components["responses"]["OtherMediaType"];
            /** @description Four uploads of the caller, or 48 of its tenant, are under way. */
            429: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Files cannot be stored at the moment, or 64 uploads of all callers are under way. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportUsage: {
        parameters: {
            query?: {
                /** @description Callers whose calls count: the caller itself, or all of its tenant, which needs the scope `admin`. */
                callers?: "own" | "all";
                groupBy?: "workflow" | "caller" | "model" | "day";
                /** @description First day, in UTC; default: the 30th day up to `until`. */
                since?: string;
                /** @description Last day, in UTC; default: today. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `callers` is `all`, and the caller lacks the scope `admin`. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The `Next-Page-Token` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    /** @description The next page, with `rel="next"`. */
                    Link?: string;
                    /** @description Absent on the last page. */
                    "Next-Page-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"][];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            /** @description Too many large answers are under way; `Retry-After` says when to try again. */
            503: {
                headers: {
                    /** @description Seconds until the next try. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWorkflow: {
        parameters: {
            query?: {
                /** @description True if warnings, such as unresolved references, are rejected like errors. */
                strict?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowBody"];
            };
        };
        responses: {
            201: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A workflow of this name exists already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The graph is invalid: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the known revision: 304 if it is the newest. */
                "If-None-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"];
                };
            };
            /** @description The client has it already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    saveWorkflow: {
        parameters: {
            query?: {
                /** @description True if warnings, such as unresolved references, are rejected like errors. */
                strict?: boolean;
            };
            header?: {
                /** @description ETag of the revision to replace; `*`: any. */
                "If-Match"?: string;
                /** @description `*`: only if no workflow of this name exists. */
                "If-None-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowReplacementBody"];
            };
        };
        responses: {
            /** @description The workflow was replaced. */
            200: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description The workflow was created. */
            201: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The condition of the request does not hold. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description The graph is invalid: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWorkflow: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the revision to delete. */
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description If-Match is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The condition of the request does not hold. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWorkflowFailures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowFailures"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkflowRevisions: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description The nextPageToken of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionPage"];
                };
            };
            /** @description A parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWorkflowRevision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                revision: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"];
                };
            };
            400: components["responses"]["Malformed"];
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    diffWorkflowRevisions: {
        parameters: {
            query?: {
                /** @description Revision that counts as the earlier one; default: the stored revision before this one. */
                with?: string;
            };
            header?: never;
            path: {
                name: string;
                revision: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionDiff"];
                };
            };
            /** @description The parameter is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No revision before it is stored, and none is named. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    restoreWorkflowRevision: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the newest revision. */
                "If-Match"?: string;
            };
            path: {
                name: string;
                revision: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedWorkflowView"];
                };
            };
            /** @description If-Match is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The revision is the newest one, or others are changing the workflow. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The condition of the request does not hold. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The definition can no longer be saved: one entry per problem. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    runWorkflow: {
        parameters: {
            query?: {
                /** @description True if the run is canceled when the client disconnects. */
                cancelOnDisconnect?: boolean;
            };
            header?: {
                /** @description A repeated request with the same key and body returns the same run. */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunBody"];
            };
        };
        responses: {
            /** @description Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON. The last one is `done`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7
                     *     event: done
                     *     data: {"type":"done","sequence":7}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The parameter is malformed, or the body has an unknown member or inputs nested too deep. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another run was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description An input is missing, unknown or invalid: one entry each. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body returns the same run. */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunBody"];
            };
        };
        responses: {
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            /** @description The body is malformed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description workflow not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another run was started under this Idempotency-Key. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            /** @description An input is missing, unknown or invalid: one entry each. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowProblems"];
                };
            };
            400: components["responses"]["Malformed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["OtherMediaType"];
            429: components["responses"]["Limited"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSignInOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInOptionsView"];
                };
            };
        };
    };
    readSignedFile: {
        parameters: {
            query: {
                /** @description Unix time in seconds until which the address is valid. */
                expires: string;
                /** @description Signature of the address. */
                signature: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "application/octet-stream": string;
                };
            };
            /** @description The range of the content. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "application/octet-stream": string;
                };
            };
            /** @description The client has the content already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The address has no valid time or signature. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The address names no file, was altered, or has expired. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The range is beyond the content. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Health Check is successful */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /** @example {} */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example ok
                         * @enum {string}
                         */
                        status?: "ok" | "degraded";
                    };
                };
            };
            /** @description The Health Check is not successful */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       },
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /**
                         * @example {
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example error
                         * @enum {string}
                         */
                        status?: "error" | "shutting_down";
                    };
                };
            };
        };
    };
    getStartup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Health Check is successful */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /** @example {} */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example ok
                         * @enum {string}
                         */
                        status?: "ok" | "degraded";
                    };
                };
            };
            /** @description The Health Check is not successful */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       },
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        details?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        };
                        /**
                         * @example {
                         *       "redis": {
                         *         "status": "down",
                         *         "message": "Could not connect",
                         *         "responseTime": 3005
                         *       }
                         *     }
                         */
                        error?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example {
                         *       "database": {
                         *         "status": "up",
                         *         "responseTime": 12
                         *       }
                         *     }
                         */
                        info?: {
                            [key: string]: {
                                /** @description Time the health indicator took to respond, in ms */
                                responseTime?: number;
                                /** @enum {string} */
                                status: "up" | "degraded" | "down";
                            } & {
                                [key: string]: unknown;
                            };
                        } | null;
                        /**
                         * @example error
                         * @enum {string}
                         */
                        status?: "error" | "shutting_down";
                    };
                };
            };
        };
    };
    receiveDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The challenge of Slack (`url_verification`). */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChallengeView"];
                };
            };
            202: {
                headers: {
                    /** @description Path of the created object. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryAnswerView"];
                };
            };
            /** @description The body is not what its type says. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The delivery is not signed with a secret of the webhook, or is too old. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such webhook. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The delivery has more than 1048576 bytes. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The trigger gives no valid inputs for this delivery. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many deliveries wait for the ends of their runs; `Retry-After` says when to try again. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The database is out of reach, or too many deliveries arrive; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example # HELP parley_tasks_total Tasks
                     *     # TYPE parley_tasks_total counter
                     *     parley_tasks_total 7
                     */
                    "text/plain": string;
                };
            };
        };
    };
    getWorkflowSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    /**
                     * @description Revision of the workflow, for `If-Match`.
                     * @example "7"
                     */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description The client has it already (If-None-Match). */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
