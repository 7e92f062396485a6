// __TOOL__: reads one line of JSON, prints one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

const limit = 100000

type answer struct {
	Output any    `json:"output"`
	Error  string `json:"error"`
}

// run gives the output, or an error that says the problem, the value and the next step.
func run(arguments map[string]any) (any, error) {
	text, ok := arguments["text"].(string)
	if !ok {
		return nil, fmt.Errorf("text is missing or no string: %v — give the text to count", arguments["text"])
	}
	characters := utf8.RuneCountInString(text)
	if characters > limit {
		return nil, fmt.Errorf("text is too long: %d characters — split it, the limit is %d", characters, limit)
	}
	return map[string]int{"words": len(strings.Fields(text)), "characters": characters}, nil
}

func main() {
	var request struct {
		Arguments map[string]any `json:"arguments"`
	}
	reply := json.NewEncoder(os.Stdout)
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&request); err != nil {
		reply.Encode(answer{Output: "", Error: "request is no JSON — send one line with arguments"})
		return
	}
	output, err := run(request.Arguments)
	if err != nil {
		reply.Encode(answer{Output: "", Error: err.Error()})
		return
	}
	reply.Encode(answer{Output: output})
}
