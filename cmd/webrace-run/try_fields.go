package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/extract"
)

// triedField is a value that --field takes out of the document.
type triedField struct {
	name  string
	value any // nil for nothing
}

// parseFields reads NAME=css:RULE, in the syntax of the stage extract.
func parseFields(args []string) (fields []map[string]string, err error) {
	known := make(map[string]bool)
	for _, arg := range args {
		name, rule, found := strings.Cut(arg, "=")
		if name = strings.TrimSpace(name); !found || name == "" || strings.ContainsAny(name, ":#. ") {
			return nil, fmt.Errorf("--field %s: write NAME=css:RULE, NAME=xpath:RULE or NAME=jq:RULE, as in price=css:#price", arg)
		}
		if known[name] {
			return nil, fmt.Errorf("--field %s: there is a field %s already", arg, name)
		}
		known[name] = true
		field := map[string]string{name: rule}
		if err := (extract.Options{Fields: field}).Validate(); err != nil {
			fault := (*pipeline.OptionError)(nil)
			if errors.As(err, &fault) {
				err = fault.Err
			}
			return nil, fmt.Errorf("--field %w", err)
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// take takes the fields out of the document, in the order in which they were asked for.
func (t *trial) take(ctx context.Context, fields []map[string]string) error {
	d := t.asDocument()
	d.URL = cmp.Or(d.URL, nowhere)
	for _, field := range fields {
		record, err := extract.Fields(ctx, d, field)
		if err != nil {
			return err
		}
		for name := range field {
			t.fields = append(t.fields, triedField{name, record[name]})
		}
	}
	return nil
}

// showFields writes a line for each field, and for each value of one that has many.
func (t *trial) showFields(s *screen) {
	width := 0
	for _, f := range t.fields {
		width = max(width, terminal.Columns(f.name))
	}
	for _, f := range t.fields {
		label := f.name + strings.Repeat(" ", width-terminal.Columns(f.name)) + "  "
		all, many := f.value.([]any)
		if !many {
			all = []any{f.value}
		}
		if many && len(all) == 0 || !many && f.value == nil {
			s.line(run{label, dim}, run{"nothing", bad})
			continue
		}
		for _, value := range all {
			s.line(run{label, dim}, run{fmt.Sprint(value), plain})
			label = strings.Repeat(" ", terminal.Columns(label))
		}
	}
}
