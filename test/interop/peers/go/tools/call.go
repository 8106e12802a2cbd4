package tools

import (
	"context"
	"encoding/json"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"peers/program"
)

// Call does an operation as client. PEER_ANSWER is the answer to each question; without it the user declines.
func Call(url, operation string, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := &mcp.ClientOptions{
		ElicitationHandler: answer,
		ProgressNotificationHandler: func(_ context.Context, it *mcp.ProgressNotificationClientRequest) {
			program.Print(map[string]any{"progress": it.Params.Progress, "message": it.Params.Message})
			if operation == "cancel" {
				cancel()
			}
		},
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1.0.0"}, options)
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: program.HttpClient()}
	session, err := client.Connect(context.Background(), transport, nil)
	if err != nil {
		program.PrintError(err)
		return
	}
	defer session.Close()
	if operation == "list" {
		printResult(session.ListTools(ctx, nil))
		return
	}
	var inputs map[string]any
	if err := json.Unmarshal([]byte(args[1]), &inputs); err != nil {
		panic(err)
	}
	params := &mcp.CallToolParams{Name: args[0], Arguments: inputs}
	params.SetProgressToken("p")
	printResult(session.CallTool(ctx, params))
}

func printResult[T any](result *T, err error) {
	if err != nil {
		program.PrintError(err)
		return
	}
	program.Print(result)
}

// answer gives the answer for each member that the question asks for.
func answer(_ context.Context, asked *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	text, isGiven := os.LookupEnv("PEER_ANSWER")
	if !isGiven {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	schema, err := json.Marshal(asked.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	var form struct{ Properties map[string]any }
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, err
	}
	content := map[string]any{}
	for name := range form.Properties {
		content[name] = text
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}
