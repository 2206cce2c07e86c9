package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// Schema returns the JSON Schema (draft 7, which editors read) of pipelines.toml with the stage types of
// the registry, nil being the [pipeline.DefaultRegistry]. What it refuses, [Load] refuses too; what it accepts may
// still be wrong in ways that a schema cannot express, such as a flow between ports that do not match.
func Schema(r *pipeline.Registry) ([]byte, error) {
	r = cmp.Or(r, pipeline.DefaultRegistry)
	definitions, stages, defaults := object{}, object{}, object{}
	var choices []any
	for _, name := range r.Types() {
		t := typeOf(r, name)
		definitions["stage:"+name] = t.schema(true)
		definitions["defaults:"+name] = t.schema(false)
		defaults[name] = reference("defaults:" + name)
		stages[name] = object{"if": object{"required": []string{"type"}}, "then": reference("stage"), "else": reference("stage:" + name)}
		choices = append(choices, object{
			"if":   object{"properties": object{"type": object{"const": name}}},
			"then": reference("stage:" + name),
		})
	}
	definitions["stage"] = object{
		"type": "object", "required": []string{"type"},
		"properties": object{"type": object{"enum": r.Types(), "description": "stage type"}},
	}
	if choices != nil {
		definitions["stage"].(object)["allOf"] = choices
	}
	definitions["pipeline"] = table(object{
		"title": described(object{"type": "string"}, "what the pipeline does, in a phrase"),
		"flow":  described(oneOrMore(), `the stages and what leads where: "a > b > c", "b.port, c.port > a"`),
		"stage": described(object{"type": "object", "properties": stages, "additionalProperties": reference("stage")}, "options of the stages"),
	}, "flow")
	root := table(object{
		"version":  described(object{"const": 1}, "version of this format"),
		"data":     described(object{"type": "string"}, "data directory; "+defaultData+" by default"),
		"control":  described(object{"type": "string"}, `where the control store is, if not in the data directory: "postgres://USER@HOST/DATABASE"`),
		"cluster":  clusterSchema(),
		"memory":   described(typeSchema(reflect.TypeFor[pipeline.Size](), options.Field{}), `how much memory the process uses, about: "1GiB"; by default as the machine allows`),
		"include":  described(oneOrMore(), "patterns of files to read as well, relative to this one"),
		"defaults": described(table(defaults), "options of every stage of a type"),
		"pipeline": described(object{"type": "object", "propertyNames": namePattern, "additionalProperties": reference("pipeline")}, "the pipelines by name"),
		"test":     testsSchema(),
	})
	root["$schema"], root["title"], root["definitions"] = "http://json-schema.org/draft-07/schema#", "pipelines.toml", definitions
	return json.MarshalIndent(root, "", "  ")
}

func clusterSchema() object {
	return described(table(object{
		"database": described(object{"type": "string"}, `what all nodes share, with the control store: "postgres://USER@HOST/DATABASE"`),
		"node":     described(object{"type": []string{"integer", "string"}, "minimum": 0}, `which node this is, from 0; a name that ends in -N is node N: "${HOSTNAME}"`),
		"secrets":  described(object{"type": "string"}, "the file of the key of secrets, which is the same on all nodes; in the data directory by default"),
		"address":  described(object{"type": "string", "pattern": `^(https://.+|.*\$\{.*)`}, "where the other nodes reach this one: https://HOST:PORT; with tls"),
		"tls": described(table(object{
			"cert": described(object{"type": "string"}, "the file of the node's certificate, for the host of its address"),
			"key":  described(object{"type": "string"}, "the file of the certificate's key"),
			"ca":   described(object{"type": "string"}, "the file of the certificate by which those of all nodes are signed"),
		}, "cert", "key", "ca"), "by what the nodes know each other"),
	}, "database", "node"), "the cluster that this machine is a node of; without it, it is alone")
}

type object = map[string]any

var namePattern = object{"pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]*$"}

func reference(name string) object { return object{"$ref": "#/definitions/" + name} }

func described(schema object, doc string) object {
	schema["description"] = doc
	return schema
}

// table is the schema of a table that has these keys and no others.
func table(properties object, required ...string) object {
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	return schema
}

func oneOrMore() object {
	return object{"anyOf": []any{
		object{"type": "string"},
		object{"type": "array", "items": object{"type": "string"}},
	}}
}

// schema describes the table of a stage of the type, or that of the type's defaults, which has no type.
func (t *stageType) schema(ofStage bool) object {
	properties := fieldSchemas(slices.Concat(t.common.List, t.fields.List))
	if !ofStage {
		delete(properties, "type")
	}
	for _, f := range t.fields.List {
		if value := defaultJSON(t.defaults.FieldByIndex(f.Index)); value != nil {
			properties[f.Name].(object)["default"] = value
		}
	}
	return described(table(properties), t.spec.Summary)
}

// fieldSchemas describes options, also by the names that they had.
func fieldSchemas(fields []options.Field) object {
	properties := object{}
	for _, f := range fields {
		properties[f.Name] = described(typeSchema(f.Type, f), f.Doc)
		for _, name := range f.Former {
			properties[name] = isDeprecated(typeSchema(f.Type, f), f.Name)
		}
	}
	return properties
}

// isDeprecated marks a schema as deprecated, and adds what takes the place of what it describes. Editors know the
// keyword, which is of a later draft.
func isDeprecated(schema object, now string) object {
	schema["deprecated"] = true
	return described(schema, "deprecated: it is called "+now+" now")
}

// typeSchema describes what a type of option may be. Strings that are read by their type may also hold a
// variable, so their form is left to Load.
func typeSchema(t reflect.Type, f options.Field) object {
	switch {
	case t == reflect.TypeFor[pipeline.Size]():
		return object{"type": []string{"string", "integer"}}
	case options.IsText(t):
		return object{"type": "string"}
	case options.IsTable(t):
		return object{"type": "object"}
	}
	switch t.Kind() {
	case reflect.String:
		if f.Enum != nil {
			choices := []any{object{"enum": f.Enum}, object{"type": "string", "pattern": `\$\{`}}
			for _, word := range slices.Sorted(maps.Keys(f.FormerWords)) {
				choices = append(choices, isDeprecated(object{"const": word}, f.FormerWords[word]))
			}
			return object{"anyOf": choices}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem(), f)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": typeSchema(t.Elem(), f)}
	case reflect.Struct:
		return table(fieldSchemas(f.Inner.List))
	}
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		return object{"type": "integer", "minimum": 0}
	}
	return object{"type": "integer"}
}

// defaultJSON returns a default as JSON has it, or nil for one that tells nothing: an empty string or
// list, and tables, whose own options carry none here.
func defaultJSON(v reflect.Value) any {
	if v.IsZero() && v.Kind() != reflect.Bool && !v.CanInt() && !v.CanUint() && !v.CanFloat() {
		return nil
	}
	if options.IsText(v.Type()) || v.Kind() == reflect.Slice && options.ElemOf(v.Type()).Kind() != reflect.Struct {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return nil
	}
	return v.Interface()
}
