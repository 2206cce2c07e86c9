package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/webrace/webrace/internal/visible"
)

// tool is one of what agents may call.
type tool struct {
	sdk.Tool
	offered func(Options) bool // whether the operator lets agents have it
	call    func(ctx context.Context, d *Desk, arguments json.RawMessage, say func(string)) (json.RawMessage, error)
	add     func(*sdk.Server, *calls)
}

// tools are all there are, in the order in which they are described.
var tools = []tool{
	searchTool, readTool, versionsTool, diffTool, whyTool, linksTool, sparqlTool, watchTool, alertsTool, crawlTool,
}

// Changes reports whether a tool changes what is stored; one that is not known does not.
func Changes(name string) bool {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.Name == name })
	return i >= 0 && !tools[i].Annotations.ReadOnlyHint
}

// The kinds of tools, as clients are told.
var (
	no        = false
	looks     = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	looksAway = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true} // it may ask the web
	changes   = &sdk.ToolAnnotations{OpenWorldHint: &no}
)

// define makes a tool of a function. What it answers is quoted if it has something of pages in it; text returns what
// of it a model reads, and where that is from; nil: all, as JSON.
func define[In, Out any](name, description string, kind *sdk.ToolAnnotations, quotes bool, text func(*Out) (from, text string), f func(context.Context, *Desk, In, func(string)) (*Out, error)) tool {
	t := tool{offered: func(Options) bool { return true }}
	t.Tool = sdk.Tool{Name: name, Description: description, Annotations: kind, InputSchema: schemaOf[In](), OutputSchema: schemaOf[Out]()}
	t.call = func(ctx context.Context, d *Desk, arguments json.RawMessage, say func(string)) (json.RawMessage, error) {
		var in In
		if err := decode(arguments, &in); err != nil {
			return nil, err
		}
		out, err := f(ctx, d, in, say)
		if err != nil {
			return nil, err
		}
		answer, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return clean(answer)
	}
	t.add = func(server *sdk.Server, s *calls) {
		described := t.Tool
		sdk.AddTool(server, &described, func(ctx context.Context, request *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			arguments, err := json.Marshal(in)
			if err != nil {
				return nil, nil, err
			}
			answer, err := s.run(ctx, request, name, arguments)
			if err != nil {
				return nil, nil, fmt.Errorf("%s", visible.Text(err.Error()))
			}
			from, shown := "", string(answer)
			if text != nil {
				var out Out
				if err := json.Unmarshal(answer, &out); err != nil {
					return nil, nil, err
				}
				from, shown = text(&out)
			}
			result := &sdk.CallToolResult{}
			if quotes {
				result.Content = quoted(from, shown)
			} else {
				result.Content = []sdk.Content{&sdk.TextContent{Text: shown}}
			}
			return result, answer, nil
		})
	}
	return t
}

// oneOf has an argument of a tool be one of some words.
func (t tool) oneOf(argument string, words ...any) tool {
	t.InputSchema.(*jsonschema.Schema).Properties[argument].Enum = words
	return t
}

// schemaOf returns the schema of what a tool takes or gives, by the fields of its type and what these are described
// as.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("%s has no schema: %v", reflect.TypeFor[T](), err))
	}
	return schema
}

func decode(arguments json.RawMessage, in any) error {
	if len(arguments) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(in); err != nil {
		return fmt.Errorf("the arguments are wrong: %w", err)
	}
	return nil
}

// Described is a tool as its documentation has it.
type Described struct {
	Name, Description string
	Arguments         []string // as they are written: "url", "[version]"
}

// Tools describes the tools, for their documentation.
func Tools() (all []Described) {
	for _, t := range tools {
		d := Described{Name: t.Name, Description: t.Description}
		schema := t.InputSchema.(*jsonschema.Schema)
		for _, name := range schema.PropertyOrder {
			if !slices.Contains(schema.Required, name) {
				name = "[" + name + "]"
			}
			d.Arguments = append(d.Arguments, name)
		}
		all = append(all, d)
	}
	return all
}
