package storecmd

import (
	"fmt"
	"iter"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/xmlschema"
)

// selectedValues is what an expression selects in one document, as JSON.
type selectedValues struct {
	ID     string   `json:"id"`
	Values []string `json:"values"`
}

func selectFlag(c *cobra.Command, expression *string) {
	c.Flags().StringVar(expression, "select", "", "instead, what an `XPATH` expression selects in each: a line for each value, or with --json for each document")
}

// checkSelection refuses what is no expression; none is one.
func checkSelection(expression string) error {
	if expression == "" {
		return nil
	}
	if _, err := xmlschema.CompileSelection(expression); err != nil {
		return cli.Wrong(err)
	}
	return nil
}

// printValues prints what an expression selects in documents: each value on a line, or a line of JSON for each
// document. It returns how many documents there were.
func printValues[T any](c *cobra.Command, expression string, asJSON bool, all iter.Seq2[T, error], of func(T) (id string, canonical []byte)) (n int, err error) {
	selection, err := xmlschema.CompileSelection(expression)
	if err != nil {
		return 0, cli.Wrong(err)
	}
	encoder := cli.NewEncoder(c.OutOrStdout())
	for one, err := range all {
		if err != nil {
			return n, err
		}
		n++
		id, canonical := of(one)
		values, err := valuesIn(c, selection, canonical)
		switch {
		case err != nil:
			return n, fmt.Errorf("%s: %w", id, err)
		case asJSON:
			err = encoder.Encode(selectedValues{id, append([]string{}, values...)})
		default:
			for _, v := range values {
				if err == nil {
					_, err = fmt.Fprintln(c.OutOrStdout(), wording.OneLine(v))
				}
			}
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func valuesIn(c *cobra.Command, selection *xmlschema.Selection, canonical []byte) ([]string, error) {
	table, err := xmlschema.BuildTable(canonical)
	if err != nil {
		return nil, err
	}
	return selection.Values(c.Context(), table)
}
