package channel

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
)

// templateChecker looks at each node of a template.
type templateChecker struct{ text string }

func (c *templateChecker) refuse(at parse.Node, format string, args ...any) error {
	before := c.text[:min(int(at.Position()), len(c.text))]
	return fmt.Errorf("line %d: %s: %s", 1+strings.Count(before, "\n"), fmt.Sprintf(format, args...), allowedOnly)
}

// list admits nodes where there are these fields.
func (c *templateChecker) list(nodes *parse.ListNode, fields []string) error {
	if nodes == nil {
		return nil
	}
	for _, node := range nodes.Nodes {
		if err := c.node(node, fields); err != nil {
			return err
		}
	}
	return nil
}

func (c *templateChecker) node(node parse.Node, fields []string) error {
	switch n := node.(type) {
	case *parse.TextNode:
		return nil
	case *parse.ActionNode:
		return c.pipe(n.Pipe, fields)
	case *parse.IfNode:
		return first(c.pipe(n.Pipe, fields), c.list(n.List, fields), c.list(n.ElseList, fields))
	case *parse.RangeNode:
		if len(n.Pipe.Decl) > 0 || n.Pipe.String() != ".Items" || !slices.Contains(fields, "Items") {
			return c.refuse(n, "{{range %s}} is not allowed", n.Pipe)
		}
		return first(c.list(n.List, itemFields), c.list(n.ElseList, fields))
	}
	text, _, _ := strings.Cut(node.String(), "}}")
	return c.refuse(node, "%.60s}} is not allowed", text)
}

// first returns the first error that there is.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// pipe admits commands that pass their values on.
func (c *templateChecker) pipe(pipe *parse.PipeNode, fields []string) error {
	if len(pipe.Decl) > 0 {
		return c.refuse(pipe, "the variable %.40s is not allowed", pipe.Decl[0])
	}
	for i, command := range pipe.Cmds {
		if err := c.command(command, i > 0, fields); err != nil {
			return err
		}
	}
	return nil
}

// command admits a field, or a function of what it takes, the last of which may be passed to it.
func (c *templateChecker) command(command *parse.CommandNode, passed bool, fields []string) error {
	function, isFunction := command.Args[0].(*parse.IdentifierNode)
	if !isFunction {
		if passed || len(command.Args) > 1 {
			return c.refuse(command, "%.60s calls no function", command)
		}
		return c.value(command.Args[0], fields)
	}
	args, wanted := command.Args[1:], 1
	if function.Ident == "cut" {
		wanted = 2
	}
	given := len(args)
	if passed {
		given++
	}
	if given != wanted {
		return c.refuse(command, "%s takes %s, and is given %d", function.Ident, wording.Count(wanted, "value"), given)
	}
	if function.Ident == "cut" {
		number, ok := args[0].(*parse.NumberNode)
		if !ok || !number.IsInt || number.Int64 < 1 || number.Int64 > maxBody {
			return c.refuse(command, "cut takes first how many characters are left, as in cut 80 .Title")
		}
		args = args[1:]
	}
	for _, arg := range args {
		if _, whole := arg.(*parse.DotNode); whole && function.Ident == "json" {
			continue
		}
		if err := c.value(arg, fields); err != nil {
			return err
		}
	}
	return nil
}

// value admits a field that there is, a text, or what is in parentheses.
func (c *templateChecker) value(node parse.Node, fields []string) error {
	switch n := node.(type) {
	case *parse.StringNode:
		return nil
	case *parse.PipeNode:
		return c.pipe(n, fields)
	case *parse.FieldNode:
		if len(n.Ident) == 1 && slices.Contains(fields, n.Ident[0]) {
			return nil
		}
		meant := ""
		if len(n.Ident) == 1 {
			meant = suggest.Nearest(n.Ident[0], fields)
		}
		return c.refuse(node, "%.60s is no field here%s; there are %s", n, suggest.DidYouMean(meant), strings.Join(fields, ", "))
	}
	return c.refuse(node, "%.60s is not allowed", node)
}
