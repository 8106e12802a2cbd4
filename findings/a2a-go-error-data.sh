#!/usr/bin/env bash
# The client of a2a-go 0.3.15 cannot read a JSON-RPC error whose data is a list: the code and the message of the agent are
# lost. JSON-RPC and A2A 0.3 allow any value there.
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
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
)

const notFound = `{"jsonrpc":"2.0","id":%q,"error":{"code":-32001,"message":"no such Task","data":%s}}`

// errorFor gives the error of the client for an agent that answers with a not-found error with the given data.
func errorFor(data string) error {
	agent := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		var call struct{ ID string }
		if err := json.NewDecoder(request.Body).Decode(&call); err != nil {
			panic(err)
		}
		answer.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(answer, notFound, call.ID, data)
	}))
	defer agent.Close()
	endpoint := a2a.AgentInterface{URL: agent.URL, Transport: a2a.TransportProtocolJSONRPC}
	client, err := a2aclient.NewFromEndpoints(context.Background(), []a2a.AgentInterface{endpoint})
	if err != nil {
		panic(err)
	}
	_, err = client.GetTask(context.Background(), &a2a.TaskQueryParams{ID: "t"})
	return err
}

func main() {
	object, list := errorFor(`{"hint":"try again"}`), errorFor(`["try again"]`)
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/a2aproject/a2a-go" {
			fmt.Println(module.Path, module.Version)
		}
	}
	fmt.Println("expected: the error is a2a.ErrTaskNotFound, for an object and for a list in data")
	fmt.Printf("observed: object: %v (not found: %t); ", object, errors.Is(object, a2a.ErrTaskNotFound))
	fmt.Printf("list: %v (not found: %t)\n", list, errors.Is(list, a2a.ErrTaskNotFound))
	if !errors.Is(object, a2a.ErrTaskNotFound) || errors.Is(list, a2a.ErrTaskNotFound) {
		os.Exit(1)
	}
}
END
go mod init try 2> /dev/null
go get github.com/a2aproject/a2a-go@v0.3.15 2> /dev/null
go mod tidy 2> /dev/null
go run .
