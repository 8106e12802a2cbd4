// Peers in Go: A2A agents and clients on a2a-go 2 and 0.3, and an MCP server and client on go-sdk.
// ../peer-program.ts describes the commands; a first word names the package.
package main

import (
	"fmt"
	"os"

	"peers/tools"
	"peers/v03"
	"peers/v1"
)

func main() {
	args := os.Args[1:]
	switch args[0] + " " + args[1] {
	case "v1 a2a-serve":
		v1.Serve(args[2], args[3], args[4], args[5])
	case "v1 a2a-call":
		v1.Call(args[2], args[3], args[4], args[5:])
	case "v03 a2a-serve":
		v03.Serve(args[2], args[3], args[4], args[5])
	case "v03 a2a-call":
		v03.Call(args[2], args[3], args[4], args[5:])
	case "tools mcp-serve":
		tools.Serve(args[2])
	case "tools mcp-call":
		tools.Call(args[2], args[3], args[4:])
	default:
		fmt.Fprintln(os.Stderr, "no such command:", args)
		os.Exit(2)
	}
}
