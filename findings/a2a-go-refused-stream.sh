#!/usr/bin/env bash
# The client of a2a-go 2.3.1 gives neither an event nor an error for SendStreamingMessage if the agent answers it with a
# JSON-RPC error as application/json, as JSON-RPC servers do before a stream begins. SendMessage gives the error.
# Exits with 1 if the module behaves differently. Needs Go 1.24.4 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > try.go <<'END'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
)

const refusal = `{"jsonrpc":"2.0","id":"%s","error":{"code":-32004,"message":"not for you"}}`

func main() {
	agent := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		var call struct{ ID string }
		if err := json.NewDecoder(request.Body).Decode(&call); err != nil {
			panic(err)
		}
		answer.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(answer, refusal, call.ID)
	}))
	defer agent.Close()
	card := &a2a.AgentCard{
		Name: "agent", Description: "Refuses", Version: "1.0.0", Capabilities: a2a.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(agent.URL, a2a.TransportProtocolJSONRPC)},
	}
	client, err := a2aclient.NewFromCard(context.Background(), card)
	if err != nil {
		panic(err)
	}
	request := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hello"))}
	_, sent := client.SendMessage(context.Background(), request)
	items, streamed := 0, error(nil)
	for _, err := range client.SendStreamingMessage(context.Background(), request) {
		items, streamed = items+1, err
	}
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/a2aproject/a2a-go/v2" {
			fmt.Println(module.Path, module.Version)
		}
	}
	fmt.Println("expected: both operations give the error \"not for you\"")
	fmt.Printf("observed: SendMessage gives %q; SendStreamingMessage gives %d items and the error %v\n", sent, items, streamed)
	if sent != nil && items == 0 {
		return
	}
	os.Exit(1)
}
END
go mod init try 2> /dev/null
go get github.com/a2aproject/a2a-go/v2@v2.3.1 2> /dev/null
go mod tidy 2> /dev/null
go run .
