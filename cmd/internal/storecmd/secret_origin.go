package storecmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"

	"github.com/webrace/webrace/internal/credentials"
)

// originFlags are where a secret comes from that is not to be copied. A command line alone has them, typed by the user
// of the process, or sent to its own socket, which no other user can connect to.
type originFlags struct{ file, command string }

func (f *originFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "from-file", "", "the `FILE` that holds the secret: it is not copied, and read again when the secret is refused")
	c.Flags().StringVar(&f.command, "from-command", "", "the `COMMAND`, with its arguments, that prints the secret; no shell reads it: run when it is wanted, and again when it is refused")
}

// given reports whether there is an origin.
func (f *originFlags) given() bool { return f.file != "" || f.command != "" }

// origin returns it, with paths in full.
func (f *originFlags) origin(globals *cli.Globals) (o credentials.Origin, err error) {
	if f.file != "" && f.command != "" {
		return o, cli.Wrongf("--from-file and --from-command: a secret comes from one of them")
	}
	if f.file != "" {
		o.File, err = filepath.Abs(globals.Path(f.file))
	}
	if f.command != "" {
		if o.Command, err = credentials.SplitWords(f.command); err != nil {
			err = fmt.Errorf("--from-command: %w", err)
		} else if len(o.Command) == 0 {
			err = errors.New("--from-command names no program")
		} else if program := o.Command[0]; strings.ContainsAny(program, `/\`) {
			o.Command[0], err = filepath.Abs(globals.Path(program)) // others are found by PATH
		}
	}
	if err == nil {
		err = o.Check()
	}
	if err != nil {
		return o, cli.Wrong(err)
	}
	return o, nil
}

// read tries an origin: one that gives no secret now is refused.
func readOrigin(ctx context.Context, o credentials.Origin, kind credentials.Kind) (value string, err error) {
	if value, err = o.Read(ctx); err != nil {
		return "", cli.Wrong(fmt.Errorf("nothing is stored: %w", err))
	}
	if kind == credentials.KindCookie && strings.Contains(value, "\t") {
		return "", cli.Wrongf("nothing is stored: a cookies.txt is copied, from standard input (< cookies.txt); what is named is what a Cookie field says")
	}
	return value, nil
}

// originOf describes where a listed secret comes from.
func originOf(s credentials.Origin, unreadable bool) string {
	if unreadable {
		return "unreadable: webrace-store fsck says why"
	}
	return s.String()
}
