#!/usr/bin/env bash
# The server of a2a-go 2.3.1 answers SubscribeToTask with TASK_NOT_FOUND (-32001) for a Task that has ended, which
# GetTask still returns. A2A 1.0 (section 3.1.6) expects UnsupportedOperationError (-32004) there, and TaskNotFoundError
# only if the Task does not exist. A caller that resubscribes at the moment of the end takes the Task for lost.
# Exits with 1 if the module behaves differently. Needs Go 1.24.4 or later, and curl.
set -euo pipefail
folder=$(mktemp -d)
agent=
trap 'test -z "$agent" || kill "$agent"; rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'END'
package main

import (
	"context"
	"fmt"
	"iter"
	"net"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

type agent struct{}

func (agent) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if yield(a2a.NewSubmittedTask(call, call.Message), nil) {
			yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCompleted, nil), nil)
		}
	}
}

func (agent) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(func(a2a.Event, error) bool) {}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	http.Serve(listener, a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(agent{})))
}
END
go mod init finding > /dev/null 2>&1
go get github.com/a2aproject/a2a-go/v2@v2.3.1 > /dev/null 2>&1
go mod tidy > /dev/null 2>&1
go build -o agent .
./agent > address &
agent=$!
for _ in $(seq 100); do test -s address && break; sleep 0.1; done
call() {
  curl -s "http://$(cat address)/" -H 'content-type: application/json' -H 'A2A-Version: 1.0' \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}"
}
message='{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}'
id=$(call SendMessage "$message" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
read_task=$(call GetTask "{\"id\":\"$id\"}")
subscribed=$(call SubscribeToTask "{\"id\":\"$id\"}")
echo "a2a-go 2.3.1"
echo "GetTask:         $read_task"
echo "SubscribeToTask: $subscribed"
echo "expected:        error -32004 (UnsupportedOperationError)"
case "$read_task" in *TASK_STATE_COMPLETED*) ;; *) exit 1 ;; esac
case "$subscribed" in *'"code":-32001'*) echo "observed:        error -32001 (TaskNotFoundError)" ;; *) exit 1 ;; esac
