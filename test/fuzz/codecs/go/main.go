// The official codec of A2A in Go, for comparison: for each line with a type and bytes or JSON, prints the message as
// ProtoJSON and whether it equals the original bytes, or the error.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	_ "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

type line struct {
	Type     string          `json:"type"`
	Bytes    *[]byte         `json:"bytes"`
	JSON     json.RawMessage `json:"json"`
	Original []byte          `json:"original"`
}

type answer struct {
	Equal bool            `json:"equal"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		read, err := compare(lines.Bytes())
		if err != nil {
			read = answer{Error: err.Error()}
		}
		if err := out.Encode(read); err != nil {
			panic(err)
		}
	}
}

func compare(text []byte) (answer, error) {
	var sent line
	if err := json.Unmarshal(text, &sent); err != nil {
		return answer{}, err
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("lf.a2a.v1." + sent.Type))
	if err != nil {
		return answer{}, err
	}
	original, value := kind.New().Interface(), kind.New().Interface()
	if err := proto.Unmarshal(sent.Original, original); err != nil {
		return answer{}, err
	}
	if sent.Bytes != nil {
		err = proto.Unmarshal(*sent.Bytes, value)
	} else {
		err = protojson.Unmarshal(sent.JSON, value)
	}
	if err != nil {
		return answer{}, err
	}
	written, err := protojson.Marshal(value)
	return answer{Equal: proto.Equal(value, original), JSON: written}, err
}
