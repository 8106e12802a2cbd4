// Package tools is the MCP server and the client on go-sdk.
package tools

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"peers/program"
)

type given struct {
	Text string `json:"text,omitempty"`
	Path string `json:"path,omitempty"`
}

type sum struct {
	Sum int `json:"sum"`
}

type pair struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Serve serves the tools at /mcp until the process ends.
func Serve(port string) {
	server := mcp.NewServer(&mcp.Implementation{Name: "tea", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Says what it is told"}, echo)
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers"}, add)
	mcp.AddTool(server, &mcp.Tool{Name: "picture", Description: "Answers with an image"}, picture)
	mcp.AddTool(server, &mcp.Tool{Name: "fail", Description: "Reports an error"}, fail)
	mcp.AddTool(server, &mcp.Tool{Name: "brew", Description: "Reports its progress"}, brew)
	mcp.AddTool(server, &mcp.Tool{Name: "wait", Description: "Works until it is canceled, and writes a file"}, wait)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	http.Handle("/mcp", program.Guard(handler))
	panic(http.ListenAndServe("127.0.0.1:"+port, nil))
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in given) (*mcp.CallToolResult, any, error) {
	return words(in.Text), nil, nil
}

func add(_ context.Context, _ *mcp.CallToolRequest, in pair) (*mcp.CallToolResult, sum, error) {
	return nil, sum{in.A + in.B}, nil
}

func picture(context.Context, *mcp.CallToolRequest, given) (*mcp.CallToolResult, any, error) {
	image := &mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"}
	return &mcp.CallToolResult{Content: []mcp.Content{image}}, nil, nil
}

func fail(context.Context, *mcp.CallToolRequest, given) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New("no tea left")
}

func brew(ctx context.Context, call *mcp.CallToolRequest, _ given) (*mcp.CallToolResult, any, error) {
	if err := progress(ctx, call, 1); err != nil {
		return nil, nil, err
	}
	return words("brewed"), nil, progress(ctx, call, 2)
}

func wait(ctx context.Context, call *mcp.CallToolRequest, in given) (*mcp.CallToolResult, any, error) {
	if err := os.WriteFile(in.Path+".begun", nil, 0o600); err != nil {
		return nil, nil, err
	}
	<-ctx.Done()
	return words("canceled"), nil, os.WriteFile(in.Path, nil, 0o600)
}

func progress(ctx context.Context, call *mcp.CallToolRequest, step float64) error {
	token := call.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: step, Total: 2}
	return call.Session.NotifyProgress(ctx, params)
}

func words(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
