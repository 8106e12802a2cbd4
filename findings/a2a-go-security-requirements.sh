#!/usr/bin/env bash
# The client of a2a-go 2.3.1 cannot read an agent card that has security requirements: it expects a list of scopes where
# A2A 1.0 has an object. SecurityRequirement.schemes is a map to StringList, whose ProtoJSON is {"list": ["read"]}.
# Its own cards have a plain list there, which readers of ProtoJSON refuse.
# Exits with 1 if the module behaves differently. Needs Go 1.24.4 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > try.go <<'END'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

func main() {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/a2aproject/a2a-go/v2" {
			fmt.Println(module.Path, module.Version)
		}
	}
	card := `{"securityRequirements":[{"schemes":{"key":{"list":["read"]}}}]}`
	err := json.Unmarshal([]byte(card), &a2a.AgentCard{})
	own, _ := json.Marshal(a2a.AgentCard{SecurityRequirements: a2a.SecurityRequirementsOptions{{"key": {"read"}}}})
	fmt.Println("expected: the card is read, and a card that is written has the same form")
	fmt.Println("observed:", err)
	fmt.Println("observed:", string(own))
	if err == nil || !strings.Contains(string(own), `"schemes":{"key":["read"]}`) {
		os.Exit(1)
	}
}
END
go mod init try 2> /dev/null
go get github.com/a2aproject/a2a-go/v2@v2.3.1 2> /dev/null
go mod tidy 2> /dev/null
go run .
