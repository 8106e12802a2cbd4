#!/usr/bin/env bash
# The gRPC client of a2a-go 2.3.1 sends page_size 0 in ListTasks if the caller gives none. A2A 1.0 allows 1 to 100, and an
# absent page_size means 50, so an agent that checks the range refuses the request.
# Exits with 1 if the module behaves differently. Needs Go 1.24.4 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > try.go <<'END'
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type agent struct {
	a2apb.UnimplementedA2AServiceServer
	pageSize *int32
}

func (agent *agent) ListTasks(_ context.Context, request *a2apb.ListTasksRequest) (*a2apb.ListTasksResponse, error) {
	agent.pageSize = request.PageSize
	return &a2apb.ListTasksResponse{}, nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	served, server := &agent{}, grpc.NewServer()
	a2apb.RegisterA2AServiceServer(server, served)
	go server.Serve(listener)
	defer server.Stop()
	card := &a2a.AgentCard{
		Name: "agent", Description: "Lists Tasks", Version: "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(listener.Addr().String(), a2a.TransportProtocolGRPC)},
	}
	plain := a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()))
	client, err := a2aclient.NewFromCard(context.Background(), card, plain)
	if err != nil {
		panic(err)
	}
	if _, err := client.ListTasks(context.Background(), &a2a.ListTasksRequest{}); err != nil {
		panic(err)
	}
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/a2aproject/a2a-go/v2" {
			fmt.Println(module.Path, module.Version)
		}
	}
	fmt.Println("expected: a request without page_size")
	if served.pageSize == nil {
		fmt.Println("observed: a request without page_size")
		os.Exit(1)
	}
	fmt.Println("observed: page_size", *served.pageSize)
}
END
go mod init try 2> /dev/null
go get github.com/a2aproject/a2a-go/v2@v2.3.1 2> /dev/null
go mod tidy 2> /dev/null
go run .
